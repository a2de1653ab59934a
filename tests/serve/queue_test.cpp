#include "serve/queue.h"

#include <atomic>

#include "serve/served.h"

namespace sact::serve {
namespace {

class Queues : public test::Served {
 protected:
  static std::shared_ptr<Job> job(float value, double seconds = 60) {
    auto job = std::make_shared<Job>();
    job->model = models_->find("adaptive");
    job->size = {64, 64};
    job->pixels.assign(3 * 64 * 64, value);
    for (size_t i = 0; i < job->pixels.size(); i += 7) job->pixels[i] = -value;
    job->deadline = Clock::now() + std::chrono::milliseconds(int(1000 * seconds));
    return job;
  }
  /// A job that holds the queue up until it is let go: its size is checked while it runs.
  static ImageResult alone(float value) {
    Queue queue({}, [](int, double) {});
    const auto one = job(value);
    queue.put({one});
    queue.wait(*one);
    return one->result;
  }
};

TEST_F(Queues, JobsThatWaitTogetherRunTogetherAndGetWhatTheyGetAlone) {
  std::vector<int> runs;
  std::vector<std::shared_ptr<Job>> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(job(float(i) / 4));
  jobs[3]->halting.shift = -5;  // another run
  {
    Queue queue({64, 3}, [&](int images, double) { runs.push_back(images); });
    queue.put(jobs);
    for (const auto& one : jobs) queue.wait(*one);
  }
  EXPECT_EQ(runs, (std::vector<int>{3, 1, 1}));  // 0, 1, 2; then 3, which is unlike 4
  for (int i = 0; i < 5; ++i) {
    if (i == 3) continue;
    const ImageResult right = alone(float(i) / 4);
    for (size_t c = 0; c < 7; ++c)
      EXPECT_NEAR(jobs[size_t(i)]->result.logits[c], right.logits[c], 1e-4);
  }
  EXPECT_GT(jobs[3]->result.flops, alone(0.75f).flops);
  EXPECT_EQ(jobs[0]->together, 3);
  EXPECT_EQ(jobs[4]->together, 1);
}

TEST_F(Queues, RivalsTakeTurns) {
  int runs = 0;
  const auto timed = job(0.5f);
  timed->rival = job(0.5f);
  timed->rival->kind = Job::Kind::kDenseNetwork;
  {
    Queue queue({}, [&](int, double) { ++runs; });
    queue.put({timed});
    queue.wait(*timed);
  }
  EXPECT_GE(runs, 4);
  EXPECT_LE(runs, 8);
  EXPECT_GT(timed->rival->network_ms, 0);
  EXPECT_EQ(timed->result.logits, alone(0.5f).logits);
}

TEST_F(Queues, AFullQueueTakesNothingOfARequest) {
  std::vector<std::shared_ptr<Job>> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(job(0.1f));
  Queue queue({2, 8}, [](int, double) {});
  EXPECT_THROW(queue.put(jobs), Busy);
  EXPECT_EQ(queue.waiting(), 0);
  queue.put({jobs[0], jobs[1]});
  queue.wait(*jobs[0]);
  queue.wait(*jobs[1]);
}

TEST_F(Queues, WhatIsTooLateIsGivenUp) {
  Queue queue({}, [](int, double) {});
  const auto late = job(0.5f, -1);
  queue.put({late});
  EXPECT_THROW(queue.wait(*late), TooLate);
  const auto next = job(0.5f);  // and the session goes on
  queue.put({next});
  queue.wait(*next);
  EXPECT_EQ(next->result.logits, alone(0.5f).logits);
}

TEST_F(Queues, AFailureIsOfItsJobAlone) {
  Queue queue({}, [](int, double) {});
  const auto wrong = job(0.5f), right = job(0.5f);
  wrong->halting.hard_budget = 0.01;
  queue.put({wrong, right});
  EXPECT_THROW(queue.wait(*wrong), Error);
  queue.wait(*right);
  EXPECT_EQ(right->result.logits.size(), 7u);
}

TEST_F(Queues, WhatHasBegunIsDoneBeforeTheEnd) {
  const auto last = job(0.5f);
  {
    Queue queue({}, [](int, double) {});
    queue.put({last});
  }
  EXPECT_EQ(last->result.logits.size(), 7u);
}

}  // namespace
}  // namespace sact::serve
