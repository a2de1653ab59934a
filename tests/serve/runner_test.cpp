// Images of requests on their networks, and what they get there.
#include "serve/runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include "serve/served.h"

namespace sact::serve {
namespace {

using test::contents_of, test::kPicture;

class Runners : public test::Served {
 protected:
  static std::shared_ptr<ImageJob> job(const std::multimap<std::string, std::string>& given = {},
                                       const std::string& model = "adaptive",
                                       const std::string& file = kPicture) {
    auto job = std::make_shared<ImageJob>();
    job->model = models_->find(model);
    const Task task = job->model->detects() ? Task::kDetect : Task::kClassify;
    job->asked = std::make_shared<const Asked>(
        asked_of(make_parameters(512), task, {"POST", path_of(task), given, {}}, *job->model));
    job->name = "p.png";
    job->file = contents_of(file);
    const io::ImageHeader header =
        io::decode_image_header(std::as_bytes(std::span(job->file)), "p.png");
    job->given = {header.height, header.width};
    job->deadline = Clock::now() + std::chrono::seconds(60);
    return job;
  }
  ImageJob& alone(const std::shared_ptr<ImageJob>& job) {
    runner_.run({job}, 1);
    return *job;
  }
  static std::string failure_of(const Job& job) {
    try {
      if (job.failure) std::rethrow_exception(job.failure);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  static uint64_t virtual_bytes() {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * uint64_t(::sysconf(_SC_PAGESIZE));
  }

  Metrics metrics_;
  Runner runner_{{}, metrics_};
};

TEST_F(Runners, ImagesThatRunTogetherGetWhatTheyGetAlone) {
  const std::string other = SACT_SOURCE_DIR "/docs/images/serve.png";
  const std::vector<std::shared_ptr<ImageJob>> images = {
      job(), job({{"whole", "1"}}), job({{"size", "96"}}), job({}, "adaptive", other), job()};
  runner_.run({images.begin(), images.end()}, 1);
  EXPECT_EQ(images[0]->together, 3) << "of one size, in any order";
  EXPECT_EQ(images[1]->together, 1);
  EXPECT_EQ(images[2]->together, 1);
  EXPECT_EQ(images[3]->together, 3);
  // Sums are rounded in other places when images run together.
  const auto expect_near = [](const ImageJob& found, const std::shared_ptr<ImageJob>& right) {
    for (size_t c = 0; c < 7; ++c) {
      EXPECT_NEAR(found.result.logits[c], right->result.logits[c], 1e-4);
    }
  };
  const auto first = job(), third = job({}, "adaptive", other), large = job({{"size", "96"}});
  for (const auto& one : {first, third, large}) alone(one);
  expect_near(*images[0], first);
  expect_near(*images[4], first);
  expect_near(*images[3], third);
  EXPECT_GT(std::abs(first->result.logits[0] - third->result.logits[0]), 1e-3) << "other images";
  EXPECT_EQ(images[2]->result.logits, large->result.logits) << "it ran alone";
}

TEST_F(Runners, WhatAsksTheSameOfOneClassifierJoins) {
  EXPECT_TRUE(job()->joins(*job({{"top", "2"}, {"size", "96"}})));
  EXPECT_FALSE(job()->joins(*job({{"halting_shift", "1"}})));
  EXPECT_FALSE(job()->joins(*job({{"hard_budget", "0.9"}})));
  EXPECT_FALSE(job()->joins(*job({}, "plain")));
  EXPECT_FALSE(job()->joins(*job({{"dense", "1"}})));
  EXPECT_FALSE(job({}, "finder")->joins(*job({}, "finder")));
}

TEST_F(Runners, FailuresAreOfTheirImages) {
  auto broken = job(), wrong = job({{"hard_budget", "0.01"}}), good = job();
  broken->file.resize(broken->file.size() / 2);
  runner_.run({broken, good}, 1);
  EXPECT_NE(failure_of(*broken).find("p.png"), std::string::npos);
  EXPECT_EQ(failure_of(*good), "");
  EXPECT_EQ(good->together, 1);
  runner_.run({wrong}, 1);
  EXPECT_NE(failure_of(*wrong), "");
}

TEST_F(Runners, WhatIsTooLateIsGivenUpAndTheSessionGoesOn) {
  for (const char* model : {"adaptive", "finder"}) {
    const auto late = job({}, model);
    late->deadline = Clock::now();
    runner_.run({late}, 1);
    EXPECT_THROW(std::rethrow_exception(late->failure), TooLate);
    EXPECT_EQ(late->together, 0);
    EXPECT_EQ(failure_of(alone(job({}, model))), "");
  }
}

TEST_F(Runners, ImagesWaitUntilThereIsMemoryToDecodeThem) {
  // Room for one of these pictures at a time: threads that run several take turns, and end.
  const auto picture = job();
  Runner narrow({.decoded_bytes = uint64_t(11 * picture->given.positions())}, metrics_);
  std::vector<std::shared_ptr<ImageJob>> images;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    images.push_back(job({}, i % 2 ? "adaptive" : "finder"));
    threads.emplace_back([&narrow, image = images.back()] { narrow.run({image}, 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& image : images) EXPECT_EQ(failure_of(*image), "");
}

/// A picture of 16x16, one byte a pixel, in a tile of 8192x8192.
std::string tiff_of_a_large_tile() {
  std::string file = "II*";
  const auto number = [&](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file += char(value >> (8 * i));
  };
  number(0, 1);
  number(8, 4);
  const std::pair<int, uint32_t> tags[] = {{256, 16}, {257, 16},         {258, 8},    {259, 1},
                                           {262, 1},  {277, 1},          {322, 8192}, {323, 8192},
                                           {324, 8},  {325, 8192 * 8192}};
  number(uint32_t(std::size(tags)), 2);
  for (const auto& [tag, value] : tags) {
    number(uint32_t(tag), 2);
    number(4, 2);  // one number of 32 bits
    number(1, 4);
    number(value, 4);
  }
  return file.append(1000, '\0');
}

TEST_F(Runners, DecodersTakeNoMoreThanIsCountedForThem) {
  const auto small = job();
  small->file = tiff_of_a_large_tile();
  small->given = {16, 16};
  runner_.run({small}, 1);
  EXPECT_NE(failure_of(*small).find("absurdly much"), std::string::npos) << failure_of(*small);
}

TEST_F(Runners, NoNetworkSeesMorePixelsThanAreAllowed) {
  Runner strict({.max_side = 100}, metrics_);
  for (const char* model : {"adaptive", "finder"}) {
    const auto large = job({}, model);
    Asked asked = *large->asked;
    asked.task = Task::kSaliency;
    asked.saliency.size = 128;
    large->asked = std::make_shared<const Asked>(asked);
    strict.run({large}, 1);
    EXPECT_NE(failure_of(*large).find("10000 pixels"), std::string::npos) << failure_of(*large);
  }
}

TEST_F(Runners, WhereMemoryIsShortRoomIsMadeOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  int made_room = 0;
  Runner runner({}, metrics_, [&] { ++made_room; });
  const auto large = job();
  Asked asked = *large->asked;
  asked.input.size = 1024;
  large->asked = std::make_shared<const Asked>(asked);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit little{rlim_t(virtual_bytes() + (16 << 20)), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  runner.run({large}, 1);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(made_room, 1);
  EXPECT_THROW(std::rethrow_exception(large->failure), Busy);
  EXPECT_EQ(failure_of(alone(job())), "") << "and it goes on";
}

TEST_F(Runners, TheDenseNetworkIsTimedBesides) {
  for (const char* model : {"adaptive", "finder", "plain"}) {
    const auto timed = job({{"dense", "1"}}, model);
    alone(timed);
    ASSERT_TRUE(timed->dense_ms) << failure_of(*timed);
    EXPECT_GT(*timed->dense_ms, 0);
    EXPECT_GT(timed->network_ms, 0);
    if (model == std::string("plain")) {
      EXPECT_EQ(*timed->dense_ms, timed->network_ms);
    }
    const auto usual = job({}, model);
    alone(usual);
    EXPECT_FALSE(usual->dense_ms);
    EXPECT_EQ(timed->result.logits, usual->result.logits);
    EXPECT_EQ(timed->result.flops, usual->result.flops);
  }
}

}  // namespace
}  // namespace sact::serve
