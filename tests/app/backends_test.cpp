// What the program runs networks on.
#include "app/backends.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact::app {
namespace {

TEST(Backends, TheEngineComesFirstAndLibTorchHasTheRest) {
  EXPECT_EQ(backends().names(), (std::vector<std::string>{"engine", "torch", "cuda"}));
  EXPECT_EQ(backends().choose({}).name(), "engine");
  EXPECT_EQ(backends().choose({.device = "cuda"}).name(), "torch");
  EXPECT_EQ(backends().choose({.evaluation = true, .several_processes = true}).name(), "torch");
  EXPECT_EQ(backends().choose({}).evaluator(), nullptr);
  EXPECT_NE(backends().named("torch").evaluator(), nullptr);
}

TEST(ImagesAtATime, AreAsManyAsThereAreThreadsImagesAndMemoryFor) {
  EXPECT_EQ(images_at_a_time(100, 4, 1), 4);
  EXPECT_EQ(images_at_a_time(2, 4, 1), 2);
  EXPECT_EQ(images_at_a_time(0, 4, 1), 1);
  EXPECT_EQ(images_at_a_time(100, 4, INT64_MAX), 1) << "there is no memory for two";
}

TEST(Sessions, ShareTheWeightsAndGiveWhatOneAloneGives) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = test::tiny_spec(Halting::kSact);
  write_model(directory / "m", spec, test::random_weights(spec, 1));
  const ModelFile file(directory / "m");
  Compute compute;
  compute.threads = 3;
  const Size size{32, 40};
  const auto sessions = open_sessions(file, compute, 10, size);
  ASSERT_EQ(sessions.size(), 3u);
  const std::vector<float> planes = test::random_planes(1, size, 2);
  compute.threads = 1;
  const auto right = open_session(file, compute)->run(planes, 1, size);
  for (const auto& session : sessions) {
    EXPECT_EQ(session->run(planes, 1, size)[0].logits, right[0].logits);
  }
}

}  // namespace
}  // namespace sact::app
