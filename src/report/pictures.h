// Whether this build can draw pictures: it needs Cairo and Pango, and SACT_PICTURES=OFF leaves them
// out.
#pragma once

namespace sact::report {

/// Where it cannot, that is said once with SACT_VERBOSE=1.
bool can_draw_pictures();

/// Throws sact::Error where it cannot.
void need_pictures();

}  // namespace sact::report
