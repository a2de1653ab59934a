#include "base/start.h"

#include <cerrno>

#include "base/error.h"

namespace sact {

void fail_to_start_thread(const std::system_error& refusal, const char* fewer) {
  fail(
      "the system refuses another thread ({}); use fewer {}, or allow more: 'ulimit -u', or the "
      "limit of tasks of the service or container",
      refusal.code().message(), fewer);
}

void expect_threads(int count) {
  std::promise<void> all;
  const std::shared_future<void> started = all.get_future().share();
  std::vector<std::thread> threads;
  const auto end = [&] {
    all.set_value();
    for (std::thread& thread : threads) thread.join();
  };
  try {
    for (int i = 1; i < count; ++i) start_thread(threads, [started] { started.wait(); });
  } catch (...) {
    end();
    throw;
  }
  end();
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
