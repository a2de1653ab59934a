// What a build without Cairo and Pango says instead of drawing.
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "report/detection_picture.h"
#include "report/montage.h"
#include "report/pictures.h"
#include "report/ponder_picture.h"
#include "report/ponder_sheet.h"

namespace sact::report {
namespace {

[[noreturn]] void refuse() {
  fail(
      "this sact draws no pictures: it was built with SACT_PICTURES=OFF; where a command has "
      "--no-pictures, add that, or build with Cairo and Pango (libpango1.0-dev)");
}

}  // namespace

bool can_draw_pictures() {
  return false;
}

void need_pictures() {
  refuse();
}

io::RgbImage draw_detection_picture(const DetectionPicture&) {
  refuse();
}

io::RgbImage draw_ponder_picture(const PonderPicture&) {
  refuse();
}

io::RgbImage montage(const std::vector<io::RgbImage>&, int, int, const std::vector<std::string>&) {
  refuse();
}

PonderSheet::Cell PonderSheet::cell(const io::RgbImage&, Map, std::string,
                                    std::vector<DrawnObject>) {
  return {};
}

/// A training goes on without the pictures that it would draw by the way.
void PonderSheet::add(Cell) {
  static std::once_flag once;
  std::call_once(once, [] {
    log_verbose("pictures are left out: this sact was built with SACT_PICTURES=OFF");
  });
}

io::RgbImage PonderSheet::draw(int) const {
  refuse();
}

}  // namespace sact::report
