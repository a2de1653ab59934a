#include "serve/queue.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "serve/byte_gate.h"
#include "serve/sessions.h"

namespace sact::serve {
namespace {

using std::chrono::milliseconds;

struct Numbered : Job {
  Numbered(int number, int kind) : number(number), kind(kind) {
    deadline = Clock::now() + std::chrono::seconds(60);
  }
  bool joins(const Job& other) const override {
    return kind != 0 && kind == static_cast<const Numbered&>(other).kind;
  }
  int number, kind;  // of one kind run together; 0: alone
};

/// A queue whose first job, number 0, runs until it is let go.
class Held {
 public:
  explicit Held(const QueueLimits& limits)
      : queue(limits, 1, [this](const Jobs& jobs, int) { run(jobs); }),
        place_(queue.put({std::make_shared<Numbered>(0, 0)})) {
    begun_.get_future().wait();
  }
  ~Held() { let_go(); }

  void let_go() {
    if (!free_) let_go_.set_value();
    free_ = true;
  }
  /// The numbers of each run after the first, when these jobs are done.
  std::vector<std::vector<int>> finish(const Jobs& jobs) {
    let_go();
    for (const auto& job : jobs) queue.wait(*job);
    const std::lock_guard lock(mutex_);
    return runs_;
  }

 private:
  void run(const Jobs& jobs) {
    std::vector<int> numbers;
    for (const auto& job : jobs) numbers.push_back(static_cast<const Numbered&>(*job).number);
    if (numbers.front() == 0) {
      begun_.set_value();
      let_go_.get_future().wait();
      return;
    }
    const std::lock_guard lock(mutex_);
    runs_.push_back(std::move(numbers));
  }

  std::mutex mutex_;
  std::vector<std::vector<int>> runs_;
  std::promise<void> begun_, let_go_;
  bool free_ = false;

 public:
  Queue queue;

 private:
  Queue::Place place_;
};

Jobs numbered(std::initializer_list<std::pair<int, int>> jobs) {
  Jobs made;
  for (const auto& [number, kind] : jobs) made.push_back(std::make_shared<Numbered>(number, kind));
  return made;
}

using Runs = std::vector<std::vector<int>>;

TEST(Queues, JobsThatWaitTogetherRunTogether) {
  Held held({64, 3});
  const Jobs jobs = numbered({{1, 1}, {2, 1}, {3, 2}, {4, 1}, {5, 1}});
  // Five requests, whose places go when all is done.
  std::vector<std::shared_ptr<Queue::Place>> places;
  for (const auto& job : jobs) {
    places.push_back(std::shared_ptr<Queue::Place>(new Queue::Place(held.queue.put({job}))));
  }
  EXPECT_EQ(held.finish(jobs), (Runs{{1, 2, 4}, {3}, {5}}));
}

TEST(Queues, RequestsTakeTurns) {
  Held held({64, 2});
  const Jobs many = numbered({{1, 0}, {2, 0}, {3, 0}}), one = numbered({{4, 0}});
  const Queue::Place first = held.queue.put(many), second = held.queue.put(one);
  Jobs all = many;
  all.push_back(one.front());
  EXPECT_EQ(held.finish(all), (Runs{{1}, {4}, {2}, {3}}));
}

TEST(Queues, WhatJoinsDoesNotPassOthersTwice) {
  Held held({64, 2});
  const Jobs many = numbered({{1, 1}, {2, 1}, {3, 1}, {4, 1}}), one = numbered({{5, 2}});
  const Queue::Place first = held.queue.put(many), second = held.queue.put(one);
  Jobs all = many;
  all.push_back(one.front());
  EXPECT_EQ(held.finish(all), (Runs{{1, 2}, {5}, {3, 4}}));
}

TEST(Queues, ARunAloneHasAllThreadsAndManyHaveOneEach) {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0, most = 0, together = 0;
  std::vector<int> threads_of;
  Queue queue({64, 8}, 4, [&](const Jobs& jobs, int threads) {
    std::unique_lock lock(mutex);
    threads_of.push_back(threads);
    running += threads;
    most = std::max(most, running);
    ++together;
    changed.notify_all();
    // Of four jobs each waits until all run: they do so side by side.
    const bool four = static_cast<const Numbered&>(*jobs.front()).number > 0;
    if (four) changed.wait_for(lock, std::chrono::seconds(20), [&] { return together == 5; });
    running -= threads;
  });
  const Jobs alone = numbered({{0, 0}}), four = numbered({{1, 0}, {2, 0}, {3, 0}, {4, 0}});
  {
    const Queue::Place place = queue.put(alone);
    queue.wait(*alone.front());
  }
  const Queue::Place place = queue.put(four);
  for (const auto& job : four) queue.wait(*job);
  EXPECT_EQ(threads_of, (std::vector<int>{4, 1, 1, 1, 1}));
  EXPECT_EQ(most, 4);
}

TEST(Queues, ManyJobsAreSharedOutAmongTheRuns) {
  std::mutex mutex;
  std::multiset<size_t> sizes;
  const Jobs jobs = numbered({{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}});
  {
    std::promise<void> both;
    const std::shared_future<void> begun_both = both.get_future().share();
    std::atomic<int> begun = 0;
    Queue queue({64, 8}, 2, [&](const Jobs& some, int) {
      if (++begun == 2) both.set_value();
      {
        const std::lock_guard lock(mutex);
        sizes.insert(some.size());
      }
      if (begun <= 2) begun_both.wait_for(std::chrono::seconds(20));
    });
    const Queue::Place place = queue.put(jobs);
    for (const auto& job : jobs) queue.wait(*job);
  }
  EXPECT_EQ(*sizes.rbegin(), 3u) << "not six for one and none for the other";
}

TEST(Queues, AFullQueueTakesNothingOfARequest) {
  Held held({2, 8});
  EXPECT_THROW(static_cast<void>(held.queue.put(numbered({{1, 0}, {2, 0}, {3, 0}}))), Busy);
  EXPECT_EQ(held.queue.waiting(), 0);
  const Jobs two = numbered({{1, 0}, {2, 0}});
  const Queue::Place place = held.queue.put(two);
  EXPECT_EQ(held.queue.waiting(), 2);
  held.finish(two);
}

TEST(Queues, WhatIsGivenUpWaitsNoMore) {
  Held held({64, 8});
  const Jobs late = numbered({{1, 0}, {2, 0}, {3, 0}}), next = numbered({{4, 0}});
  late.front()->deadline = Clock::now() + milliseconds(20);
  {
    const Queue::Place place = held.queue.put(late);
    EXPECT_THROW(held.queue.wait(*late.front()), TooLate);
    EXPECT_EQ(held.queue.waiting(), 3);
  }
  EXPECT_EQ(held.queue.waiting(), 0) << "the other two of that request";
  for (const auto& job : late) EXPECT_TRUE(job->is_over());
  const Queue::Place place = held.queue.put(next);
  EXPECT_EQ(held.finish(next), Runs{{4}});
}

TEST(Queues, WhatRunsHearsThatItIsGivenUp) {
  std::promise<void> begun, over;
  Queue queue({}, 1, [&](const Jobs& jobs, int) {
    begun.set_value();
    while (!jobs.front()->is_over()) std::this_thread::sleep_for(milliseconds(1));
    over.set_value();
  });
  {
    const Queue::Place place = queue.put(numbered({{1, 0}}));
    begun.get_future().wait();
  }
  EXPECT_EQ(over.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(Queues, AFailureIsOfItsRunAlone) {
  Queue queue({}, 1, [](const Jobs& jobs, int) {
    if (static_cast<const Numbered&>(*jobs.front()).number == 1) fail("one is wrong");
  });
  const Jobs jobs = numbered({{1, 0}, {2, 0}});
  const Queue::Place place = queue.put(jobs);
  EXPECT_THROW(queue.wait(*jobs[0]), Error);
  EXPECT_NO_THROW(queue.wait(*jobs[1]));
}

TEST(Queues, ACrowdIsRememberedForAMoment) {
  Crowd crowd;
  const auto now = Clock::now();
  EXPECT_EQ(crowd.see(1, now), 1);
  EXPECT_EQ(crowd.see(8, now), 8);
  EXPECT_EQ(crowd.see(2, now + milliseconds(40)), 8);
  EXPECT_EQ(crowd.see(2, now + milliseconds(60)), 8);
  EXPECT_EQ(crowd.see(1, now + milliseconds(120)), 2);
  EXPECT_EQ(crowd.see(1, now + milliseconds(500)), 1);
}

/// Until then somebody needs what is taken from a gate.
std::function<bool()> soon(milliseconds time = milliseconds(10)) {
  return [end = Clock::now() + time] { return Clock::now() > end; };
}

TEST(ByteGates, LetInWhatFits) {
  ByteGate gate(100);
  auto most = gate.take(70, soon());
  ASSERT_TRUE(most);
  EXPECT_FALSE(gate.take(40, soon()));
  EXPECT_TRUE(gate.take(30, soon()));
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    most.reset();
  });
  EXPECT_TRUE(gate.take(1000, soon(milliseconds(20000)))) << "alone";
  later.join();
  auto all = gate.take(100, soon());
  ASSERT_TRUE(all) << "all was given back";
  all->shrink(60);
  EXPECT_FALSE(gate.take(50, soon()));
  EXPECT_TRUE(gate.take(40, soon()));
}

TEST(ByteGates, WhatIsSmallDoesNotPassWhatIsLarge) {
  ByteGate gate(100);
  auto first = gate.take(50, soon());
  std::atomic<bool> waits = false, given_up = false;
  std::thread large([&] {
    EXPECT_FALSE(gate.take(80, [&] {
      waits = true;
      return given_up.load();
    }));
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(gate.take(10, soon(milliseconds(50)))) << "there is room, but somebody came before";
  given_up = true;
  EXPECT_TRUE(gate.take(10, soon(milliseconds(20000)))) << "who is given up waits no more";
  large.join();
}

TEST(Sessions, AsManyAreKeptAsRunAtOnce) {
  int made = 0;
  Sessions<int> sessions(4, [&](int) { return std::make_unique<int>(made++); });
  {
    const auto all = sessions.take(4);
    EXPECT_EQ(*all, 0);
  }
  EXPECT_EQ(*sessions.take(4), 0) << "it was kept";
  {
    const auto half = sessions.take(2), other = sessions.take(2);
    EXPECT_EQ(*half + *other, 1 + 2);
  }
  EXPECT_EQ(made, 3);
  { const auto half = sessions.take(2), other = sessions.take(2); }
  EXPECT_EQ(made, 3) << "those of two threads were kept";
  EXPECT_EQ(*sessions.take(4), 3) << "and the older one of four was not";
  sessions.drop_idle();
  EXPECT_EQ(*sessions.take(2), 4);
}

}  // namespace
}  // namespace sact::serve
