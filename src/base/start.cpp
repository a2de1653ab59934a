#include "base/start.h"

#include <cerrno>

#include "base/error.h"

namespace sact {

void fail_to_start_thread(const std::system_error& refusal, const char* fewer) {
  fail(
      "the system refuses another thread ({}); use fewer ({}), or allow more: 'ulimit -u', or the "
      "limit of tasks of the service or container",
      refusal.code().message(), fewer);
}

std::string no_process_text(int error_number) {
  const std::string text = errno_text(error_number);
  if (error_number != EAGAIN) return text;
  return fmt::format(
      "the system refuses another process ({}); allow more: 'ulimit -u', or the limit of tasks of "
      "the service or container",
      text);
}

}  // namespace sact
