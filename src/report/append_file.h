// A file that only grows, and only by whole records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace sact::report {

class AppendFile {
 public:
  enum class Mode { kCreate, kContinue };  // kCreate refuses a path where something stands

  AppendFile(std::filesystem::path path, Mode mode);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;

  /// Hands the bytes to the operating system: they survive the end of this process, however it
  /// ends. When they cannot all be written (disk full), takes back what was and throws sact::Error,
  /// so that the next record does not follow half of this one.
  void append(std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace sact::report
