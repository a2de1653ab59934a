// What sanitizers leave untestable.
#pragma once

/// They take terabytes of addresses and more memory: limits on either cannot be tested under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SACT_MEMORY_IS_SANITIZED
#endif
