// The note in every component that says of which build it is; see component_mark.h.
#include "sact_build.h"

// As assembly, because the type of a section cannot be said in C++.
asm(R"(
  .pushsection .note.sact, "a", %note
  .balign 4
  .long 2f - 1f, 4f - 3f, 1
1:.asciz "sact"
2:.balign 4
3:.ascii ")" SACT_BUILD R"("
4:.balign 4
  .popsection
)");
