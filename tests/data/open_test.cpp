// Tests of opening data sets by description: CIFAR-10, the synthetic set, and mistakes.
#include "data/open.h"

#include <gtest/gtest.h>

#include "data/synthetic_dataset.h"
#include "dataset_samples.h"

namespace sact::data {
namespace {

using namespace sact::test;

constexpr size_t kRecordBytes = 3073;

/// A record whose planes are r, g, b, but for one pixel (x 3, y 2), which is 9 more.
std::string record(int label, int r, int g, int b) {
  std::string bytes(1, char(label));
  for (const int value : {r, g, b}) {
    std::string plane(1024, char(value));
    plane[2 * 32 + 3] = char(value + 9);
    bytes += plane;
  }
  return bytes;
}

void make_cifar(const std::filesystem::path& root) {
  for (int i = 1; i <= 5; ++i) {
    write_text(root / ("data_batch_" + std::to_string(i) + ".bin"),
               record(i, 10 * i, 100, 200) + record(0, 1, 2, 3));
  }
  write_text(root / "test_batch.bin", record(9, 50, 60, 70));
  write_text(root / "batches.meta.txt",
             "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\n"
             "ship\ntruck\n\n");
}

TEST(Cifar10, RecordsBecomeItems) {
  TemporaryDirectory root;
  make_cifar(root.path());
  const auto train = open_dataset(root.path().string(), "train");
  ASSERT_EQ(train->size(), 10);
  EXPECT_EQ(train->classes(), 10);
  EXPECT_EQ(train->class_names()[9], "truck");
  const Sample sample = train->load(4);  // first record of the third file
  EXPECT_EQ(sample.label, 3);
  ASSERT_EQ(sample.image.width, 32);
  EXPECT_EQ(sample.image.pixel(0, 0)[0], 30);
  EXPECT_EQ(sample.image.pixel(3, 2)[0], 39);
  EXPECT_EQ(sample.image.pixel(2, 3)[0], 30);
  EXPECT_EQ(sample.image.pixel(3, 2)[1], 109);
  EXPECT_EQ(sample.image.pixel(31, 31)[2], 200);
  EXPECT_TRUE(says(train->sample_name(5), "data_batch_3.bin record 1"));
  const auto val = open_dataset(root.path().string(), "val");
  ASSERT_EQ(val->size(), 1);
  EXPECT_EQ(val->load(0).label, 9);
  EXPECT_EQ(dataset_splits(root.path().string()), (Names{"train", "val"}));
}

TEST(Cifar10, IsFoundInTheDirectoryOfItsArchive) {
  TemporaryDirectory root;
  make_cifar(root / "cifar-10-batches-bin");
  EXPECT_EQ(open_dataset(root.path().string(), "val")->size(), 1);
}

TEST(Cifar10, DamageIsRefused) {
  TemporaryDirectory root;
  make_cifar(root.path());
  auto refusal = [&](const std::string& split) {
    return error_of([&] { open_dataset(root.path().string(), split); });
  };
  write_text(root / "test_batch.bin", record(9, 1, 2, 3).substr(1));
  EXPECT_TRUE(says(refusal("val"), "test_batch.bin: has 3072 bytes"));
  write_text(root / "test_batch.bin", "");
  EXPECT_TRUE(says(refusal("val"), "has 0 bytes"));
  write_text(root / "test_batch.bin", record(2, 0, 0, 0) + record(10, 0, 0, 0));
  EXPECT_TRUE(says(refusal("val"), "record 1 has the label 10"));
  EXPECT_TRUE(says(refusal("test"), "train and val, not 'test'"));
  std::filesystem::remove(root / "data_batch_4.bin");
  EXPECT_TRUE(says(refusal("train"), "data_batch_4.bin: cannot be opened"));
  make_cifar(root.path());
  write_text(root / "batches.meta.txt", "one\ntwo\n");
  EXPECT_TRUE(says(refusal("train"), "must name 10 classes, one a line, but names 2"));
  std::filesystem::remove(root / "batches.meta.txt");
  EXPECT_EQ(open_dataset(root.path().string(), "train")->class_names()[7], "7");
  static_assert(kRecordBytes == 1 + 3 * 32 * 32);
}

TEST(Cifar10, PythonVersionIsNamedAsSuch) {
  TemporaryDirectory root;
  write_text(root / "cifar-10-batches-py/batches.meta", "pickle");
  EXPECT_TRUE(says(error_of([&] { open_dataset(root.path().string(), "train"); }), "Python"));
}

TEST(SyntheticData, DescriptionSetsSizeCountsAndSeed) {
  const auto parsed = parse_synthetic("synthetic:size=32x48,count=70,val=30,seed=5");
  EXPECT_EQ(parsed.pictures.height, 32);
  EXPECT_EQ(parsed.pictures.width, 48);
  EXPECT_EQ(parsed.pictures.seed, 5u);
  const auto set = open_dataset("synthetic:size=32x48,count=70,val=30,seed=5", "train");
  EXPECT_EQ(set->size(), 70);
  EXPECT_EQ(set->classes(), 10);
  EXPECT_EQ(open_dataset("synthetic:size=32x48,count=70,val=30", "val")->size(), 30);
  EXPECT_EQ(parse_synthetic("synthetic").pictures.width, 64);
}

TEST(SyntheticData, TrainingPicturesAreThoseOfTheSeedWithTheirBoxes) {
  const auto set = open_dataset("synthetic:size=32x64,count=20,seed=5", "train");
  SyntheticOptions options;
  options.height = 32;
  options.width = 64;
  options.seed = 5;
  const SyntheticSample made = synthetic_sample(options, 13);
  const Sample sample = set->load(13);
  EXPECT_EQ(sample.image.rgb, made.image.rgb);
  EXPECT_EQ(sample.label, made.label);
  ASSERT_EQ(sample.boxes.size(), 1u);
  EXPECT_FLOAT_EQ(sample.boxes[0].x1, made.box.x1 / 64);
  EXPECT_FLOAT_EQ(sample.boxes[0].y1, made.box.y1 / 32);
}

TEST(SyntheticData, ValidationPicturesDependOnlyOnTheSeedAndAreOthers) {
  const auto one = open_dataset("synthetic:size=24,count=10", "val");
  const auto two = open_dataset("synthetic:size=24,count=20000", "val");
  const auto train = open_dataset("synthetic:size=24,count=10", "train");
  const auto seeded = open_dataset("synthetic:size=24,count=10,seed=1", "val");
  EXPECT_EQ(one->load(3).image.rgb, two->load(3).image.rgb);
  EXPECT_NE(one->load(3).image.rgb, train->load(3).image.rgb);
  EXPECT_NE(one->load(3).image.rgb, seeded->load(3).image.rgb);
  EXPECT_GT(kFirstSyntheticVal, kMaxSyntheticCount);
}

TEST(SyntheticData, MistakesAreExplained) {
  auto refusal = [](const std::string& description, const std::string& split = "train") {
    return error_of([&] { open_dataset(description, split); });
  };
  const std::string unknown = refusal("synthetic:sise=64");
  EXPECT_TRUE(says(unknown, "'sise'") && says(unknown, "size, count, val or seed")) << unknown;
  EXPECT_TRUE(says(refusal("synthetic:64"), "'64' has no value"));
  EXPECT_TRUE(says(refusal("synthetic:size=big"), "not 'big'"));
  EXPECT_TRUE(says(refusal("synthetic:size=8"), "synthetic data"));
  EXPECT_TRUE(says(refusal("synthetic:count=0"), "count must be"));
  EXPECT_TRUE(says(refusal("synthetic:count=99999999999999999999"), "count must be"));
  EXPECT_TRUE(says(refusal("synthetic:seed=-1"), "seed must be"));
  EXPECT_TRUE(says(refusal("synthetic", "test"), "train and val"));
}

TEST(OpenDataset, FoldersAndMistakes) {
  TemporaryDirectory root;
  write_plain(root / "train/cat/a.png", 4, 4, 1);
  write_plain(root / "val/cat/a.png", 4, 4, 2);
  EXPECT_EQ(open_dataset(root.path().string(), "val")->load(0).image.rgb[0], 2);
  EXPECT_EQ(dataset_splits((root / "val").string()), Names{});
  EXPECT_TRUE(says(error_of([] { open_dataset("", "train"); }), "no data set is named"));
  EXPECT_TRUE(says(error_of([] { open_dataset("/no/such", "train"); }), "no such folder"));
  OpenOptions options;
  options.class_names = "names.txt";
  EXPECT_TRUE(says(error_of([&] { open_dataset("synthetic", "train", options); }), "its own"));
}

TEST(OpenDataset, LabelsAreKnownWithoutReadingTheItems) {
  TemporaryDirectory root;
  make_cifar(root / "cifar");
  for (const char* file : {"a/0.png", "b/0.png", "b/1.png"}) {
    write_plain(root / "folder" / file, 8, 8, 0);
  }
  for (const std::string& description :
       {(root / "cifar").string(), (root / "folder").string(), std::string("synthetic:count=23")}) {
    const auto set = open_dataset(description, "train");
    for (int64_t i = 0; i < set->size(); ++i) EXPECT_EQ(set->label(i), set->load(i).label);
  }
}

}  // namespace
}  // namespace sact::data
