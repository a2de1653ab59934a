#include "report/pictures.h"

namespace sact::report {

void need_pictures() {}

}  // namespace sact::report
