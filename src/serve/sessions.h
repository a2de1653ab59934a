// Sessions of a model, for runs that go side by side.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sact::serve {

/// There are as many of each number of threads as have run at once.
template <typename Session>
class Sessions {
 public:
  using Make = std::function<std::unique_ptr<Session>(int threads)>;
  explicit Sessions(Make make) : make_(std::move(make)) {}

  /// Comes back when it goes.
  class Lent {
   public:
    Lent(Sessions& owner, int threads, std::unique_ptr<Session> session)
        : owner_(owner), threads_(threads), session_(std::move(session)) {}
    ~Lent() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.idle_[threads_].push_back(std::move(session_));
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Session& operator*() const { return *session_; }
    Session* operator->() const { return session_.get(); }

   private:
    Sessions& owner_;
    int threads_;
    std::unique_ptr<Session> session_;
  };

  Lent take(int threads) {
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[threads];
      if (!idle.empty()) {
        // The one that was used last has its memory in the caches.
        std::unique_ptr<Session> session = std::move(idle.back());
        idle.pop_back();
        return {*this, threads, std::move(session)};
      }
    }
    return {*this, threads, make_(threads)};
  }

 private:
  Make make_;
  std::mutex mutex_;
  std::map<int, std::vector<std::unique_ptr<Session>>> idle_;
};

}  // namespace sact::serve
