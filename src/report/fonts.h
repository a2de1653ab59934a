// Which fonts there are, found without a word to the user.
#pragma once

namespace sact::report {

/// Makes fontconfig ready, the first time it is called; any thread may.
void prepare_fonts();

}  // namespace sact::report
