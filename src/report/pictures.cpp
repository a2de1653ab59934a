#include "report/pictures.h"

namespace sact::report {

bool can_draw_pictures() {
  return true;
}

void need_pictures() {}

}  // namespace sact::report
