// Sessions of a model, for runs that go side by side.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace sact::serve {

/// As many as run at once. Those that nobody uses are kept for later, but no more of them than have
/// `most_threads` together: each keeps the memory of its largest image.
template <typename Session>
class Sessions {
 public:
  using Make = std::function<std::unique_ptr<Session>(int threads)>;
  Sessions(int most_threads, Make make) : most_threads_(most_threads), make_(std::move(make)) {}

 private:
  struct Made {
    int threads;
    std::unique_ptr<Session> session;
  };
  using List = std::list<Made>;

 public:
  /// Comes back when it goes.
  class Lent {
   public:
    Lent(Sessions& owner, List&& made) : owner_(owner), made_(std::move(made)) {}
    ~Lent() { owner_.give_back(made_); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Session& operator*() const { return *made_.front().session; }
    Session* operator->() const { return made_.front().session.get(); }

   private:
    Sessions& owner_;
    List made_;  // of one: it goes back as it is, without memory that might not be there
  };

  Lent take(int threads) {
    List made;
    {
      const std::lock_guard lock(mutex_);
      // The one that was used last has its memory in the caches.
      for (auto one = idle_.end(); one != idle_.begin() && made.empty();) {
        if ((--one)->threads == threads) made.splice(made.end(), idle_, one);
      }
    }
    if (made.empty()) made.push_back({threads, make_(threads)});
    return {*this, std::move(made)};
  }

  /// Forgets those that nobody uses.
  void drop_idle() {
    List dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(idle_);
  }

 private:
  void give_back(List& made) {
    List dropped;  // later than the lock
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.end(), made);
    int threads = 0;
    for (auto one = idle_.end(); one != idle_.begin();) {
      threads += (--one)->threads;
      if (threads <= most_threads_) continue;
      dropped.splice(dropped.end(), idle_, idle_.begin(), std::next(one));
      break;
    }
  }

  const int most_threads_;
  Make make_;
  std::mutex mutex_;
  List idle_;  // the last used at the end
};

}  // namespace sact::serve
