#include "base/file_names.h"

#include <algorithm>

#include "base/error.h"

namespace sact {

bool stays_below(const std::filesystem::path& name) {
  const auto leads_up = [](const std::filesystem::path& part) { return part == ".."; };
  return name.is_relative() && name.native().find('\0') == std::string::npos &&
         std::none_of(name.begin(), name.end(), leads_up);
}

std::filesystem::path file_below(const std::filesystem::path& folder,
                                 const std::filesystem::path& name, const std::string& where) {
  if (!stays_below(name)) {
    fail("{}: names the file '{}', which is not below {}; a relative name without '..' is needed",
         where, printable(name.string()), folder.string());
  }
  return folder / name;
}

}  // namespace sact
