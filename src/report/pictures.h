// Whether this build can draw pictures: it needs Cairo and Pango, and SACT_PICTURES=OFF leaves them
// out.
#pragma once

namespace sact::report {

bool can_draw_pictures();

/// Throws sact::Error where it cannot.
void need_pictures();

}  // namespace sact::report
