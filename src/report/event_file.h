// TensorBoard event files: scalars and pictures over the steps of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "io/image.h"
#include "report/append_file.h"

namespace sact::report {

/// The Castagnoli checksum, by which event files guard their records.
uint32_t crc32c(std::string_view bytes);

/// Writes one event file of its own in a directory. TensorBoard reads the files of a directory in
/// the order of their names, so every start of a run makes a new file whose name comes after those
/// that are there, whatever the clock says.
class EventWriter {
 public:
  /// Seconds since 1970; tests set their own.
  using Clock = std::function<double()>;
  static double system_clock();

  /// `first_step` is the first step that will be written: TensorBoard drops what earlier files of
  /// the directory say about it and later ones, as a run writes them again that was killed and goes
  /// on from a checkpoint.
  explicit EventWriter(const std::filesystem::path& directory, int64_t first_step = 0,
                       Clock clock = system_clock);
  /// Flushes; events that cannot be written then are lost without a word: call flush() before.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// A point of the curve `tag`; a slash in it groups curves ("train/loss").
  void add_scalar(std::string_view tag, double value, int64_t step);
  void add_image(std::string_view tag, const io::RgbImage& image, int64_t step);

  /// Hands the events so far to the operating system. Done in between too when there are many.
  void flush();

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  void add_event(int64_t step, std::string_view content);
  void add_summary(int64_t step, std::string_view value);

  Clock clock_;
  AppendFile file_;
  std::string pending_;
};

}  // namespace sact::report
