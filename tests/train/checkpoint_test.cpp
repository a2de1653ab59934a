// Checkpoints: what was saved comes back, and damage is seen.
#include "train/loop/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/file.h"
#include "base/random.h"
#include "model/initial_weights.h"
#include "support/errors.h"
#include "support/temporary.h"
#include "train/torch/network_weights.h"

namespace sact::train {
namespace {

class CheckpointFile : public ::testing::Test {
 protected:
  void SetUp() override {
    spec_ = spec_from_json(
        R"({"units":[1,1],"unit":"basic","stem":"small","width":4,"classes":3,"halting":"sact"})",
        "spec");
    network_ = make_network(spec_, initial_weights(spec_));
    sgd_ = std::make_unique<Sgd>(network_->named_parameters(), SgdOptions{});
    progress_.epoch = 2;
    progress_.position = 8;
    progress_.step = 22;
    progress_.sums = {1.5, 2};
    progress_.maxima = {3};
    save();
  }

  void save() {
    save_checkpoint(path_, *network_, *sgd_, progress_, {"sact train", settings_, spec_});
  }

  std::vector<std::byte> bytes() const { return read_file(path_, 64 << 20); }

  /// The checkpoint with one text of its header replaced by another as long, and without a
  /// checksum, as early versions wrote it.
  void write_early(const std::string& from, const std::string& to) {
    const io::SafetensorsFile file(path_);
    io::Metadata metadata = file.metadata();
    metadata.erase(metadata.find(io::kChecksumKey));
    std::string& json = metadata.at("sact_checkpoint");
    for (const auto& [old, now] : {std::pair(from, to), {"complete with checksum", "complete"}}) {
      const size_t place = json.find(old);
      ASSERT_NE(place, std::string::npos) << old;
      json.replace(place, old.size(), now);
    }
    std::vector<io::NamedTensor> tensors;
    for (const auto& [name, view] : file.tensors()) tensors.push_back({name, view});
    io::write_safetensors(path_, tensors, metadata);
  }

  test::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "checkpoint.safetensors";
  std::string settings_ = R"({"epochs":4})";
  ModelSpec spec_;
  Network network_ = nullptr;
  std::unique_ptr<Sgd> sgd_;
  Progression progress_;
};

TEST_F(CheckpointFile, AThousandFlippedBitsAreFound) {
  EXPECT_EQ(Checkpoint(path_).progression().step, 22);
  EXPECT_TRUE(Checkpoint(path_).summed());
  std::vector<std::byte> damaged = bytes();
  Random random(20);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t bit = size_t(random.below(damaged.size() * 8));
    damaged[bit / 8] ^= std::byte(1 << bit % 8);
    write_file_atomically(path_, damaged, Durability::kUnsynced);
    try {
      const Checkpoint checkpoint(path_);
      ADD_FAILURE() << "bit " << bit << " was not seen";
    } catch (const Error&) {
      ++found;
    }
    damaged[bit / 8] ^= std::byte(1 << bit % 8);
  }
  EXPECT_EQ(found, 1000);
}

/// In each byte of the header: none turns the file into one that needs no checksum.
TEST_F(CheckpointFile, AFlippedBitAnywhereInTheHeaderIsFound) {
  const std::vector<std::byte> good = bytes();
  uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](size_t place, std::byte value) {
    file.seekp(std::streamoff(place)).put(char(value)).flush();
  };
  for (size_t place = 0; place < sizeof header + header; ++place) {
    put(place, good[place] ^ std::byte(1 << place % 8));
    EXPECT_THROW(Checkpoint{path_}, Error) << place;
    put(place, good[place]);
  }
  EXPECT_EQ(Checkpoint(path_).progression().step, 22);
}

TEST_F(CheckpointFile, TheOneBeforeStays) {
  EXPECT_FALSE(std::filesystem::exists(previous_checkpoint(path_)));
  progress_.step = 23;
  save();
  EXPECT_EQ(Checkpoint(path_).progression().step, 23);
  EXPECT_EQ(Checkpoint(previous_checkpoint(path_)).progression().step, 22);
}

TEST_F(CheckpointFile, OfAnEarlyVersionIsReadWithoutAChecksum) {
  write_early("{", "{");
  const Checkpoint early(path_);
  EXPECT_FALSE(early.summed());
  EXPECT_EQ(early.progression().step, 22);
}

TEST_F(CheckpointFile, CountersThatCannotBeAreRefused) {
  const std::vector<std::pair<std::string, std::string>> absurd = {
      {R"("epoch":2)", R"("epoch":1000000000000000000)"},
      {R"("epoch":2)", R"("epoch":5)"},  // of four
      {R"("epoch":2)", R"("epoch":-1)"},
      {R"("epoch":2)", R"("epoch":1e300)"},
      {R"("step":22)", R"("step":-22)"},
      {R"("step":22)", R"("step":"22")"},
      {R"("position":8)", R"("position":1e18)"},
      {R"("workers":1)", R"("workers":99999999999999999999)"},
      {R"("workers":1)", R"("workers":4294967297)"}};  // one, in 32 bits
  for (const auto& [right, wrong] : absurd) {
    SCOPED_TRACE(wrong);
    save();
    write_early(right, wrong);
    const std::string message = test::error_of([&] { Checkpoint checkpoint(path_); });
    EXPECT_NE(message.find("record of progress is damaged"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sact::train
