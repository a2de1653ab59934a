// What the parts of the session's implementation share.
#pragma once

#include <algorithm>
#include <chrono>

#include "engine/row_calls.h"
#include "engine/session.h"

namespace sact::engine {

/// Adds the time of a scope to the profile of a layer, on the first thread.
class Session::Timer {
 public:
  Timer(Session& session, int thread, int layer)
      : profile_(session.profiling_ && thread == 0 ? &session.profile_[size_t(layer)] : nullptr) {
    if (profile_) start_ = Clock::now();
  }
  ~Timer() {
    if (profile_) {
      profile_->seconds += std::chrono::duration<double>(Clock::now() - start_).count();
    }
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  LayerProfile* profile_;
  Clock::time_point start_;
};

template <typename Work>
void Session::for_each_chunk(Share share, int most, const Work& work) {
  const int chunks = (share.count() + most - 1) / most;
  for (int c = 0; c < chunks; ++c) {
    work(Share{share.first + int(int64_t(share.count()) * c / chunks),
               share.first + int(int64_t(share.count()) * (c + 1) / chunks)});
  }
}

}  // namespace sact::engine
