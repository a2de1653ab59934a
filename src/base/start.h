// Starting threads and processes, in one place that says what is to be done where the system
// refuses one.
#pragma once

#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace sact {

/// Throws sact::Error. `fewer` are the threads that may be too many, as the user knows them.
[[noreturn]] void fail_to_start_thread(const std::system_error& refusal, const char* fewer);

/// A thread that runs it. sact::Error where the system refuses one.
template <typename Work>
std::thread start_thread(Work&& work, const char* fewer = "threads") {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& refusal) {
    fail_to_start_thread(refusal, fewer);
  }
}

/// One more of several.
template <typename Work>
void start_thread(std::vector<std::thread>& threads, Work&& work, const char* fewer = "threads") {
  try {
    threads.emplace_back(std::forward<Work>(work));
  } catch (const std::system_error& refusal) {
    fail_to_start_thread(refusal, fewer);
  }
}

/// One that gives a result.
template <typename Work>
auto start_async(Work&& work, const char* fewer = "threads") {
  try {
    return std::async(std::launch::async, std::forward<Work>(work));
  } catch (const std::system_error& refusal) {
    fail_to_start_thread(refusal, fewer);
  }
}

/// Starts so many threads, counting this one, and ends them. For libraries that end the program, in
/// words of their own, when they get no thread.
void expect_threads(int count);

/// Why a program cannot be run, by what posix_spawn() returned.
std::string no_process_text(int error_number);

}  // namespace sact
