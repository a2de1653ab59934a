#include "train/torch/detector.h"

#include <gtest/gtest.h>

#include <map>

#include "detect/detection_dataset.h"
#include "model/detection.h"
#include "model/flops.h"
#include "support/random_model.h"
#include "train/detect/batches.h"
#include "train/detect/data_loader.h"
#include "train/detect/loss.h"
#include "train/random_network.h"
#include "train/torch/crop_torch.h"

namespace sact::train {
namespace {

ModelSpec tiny_detector(Halting halting) {
  ModelSpec spec = test::tiny_spec(halting, {2, 3, 2});
  spec.classes = 3;
  spec.detection.emplace();
  spec.detection->shorter_side = 64;
  spec.detection->anchor_sizes = {16, 32};
  spec.detection->proposal_channels = 8;
  spec.detection->proposals = 20;
  spec.detection->crop = 6;
  spec.detection->pool = 2;
  return spec;
}

std::vector<detect::CropBox> some_boxes() {
  return {{0, 0, 1, 1},
          {0.1f, 0.2f, 0.7f, 0.9f},
          {-0.3f, 0.4f, 0.5f, 1.4f},
          {0.5f, 0.5f, 0.5f, 0.5f},
          {0.8f, 0.1f, 0.2f, 0.6f},
          {1.2f, 1.3f, 1.5f, 1.6f}};
}

/// All samples of crops, without pooling.
torch::Tensor crops_of(const torch::Tensor& features, std::vector<detect::CropBox> boxes, int crop,
                       CropBy by) {
  const ImageCrops image{std::move(boxes), size_of(features)};
  return crop_and_pool(features, {&image, 1}, {crop, 1}, by);
}

TEST(CropTorch, EqualsThePlainCrop) {
  const int channels = 5, height = 7, width = 9, crop = 6;
  const torch::Tensor features =
      test::random_images(1, 7, 9, 3).narrow(1, 0, 1).expand({1, channels, height, width}) *
      torch::arange(1, 1 + channels).view({1, channels, 1, 1});
  const torch::Tensor rows = features.permute({0, 2, 3, 1}).contiguous();
  const auto boxes = some_boxes();
  for (const CropBy by : {CropBy::kSamples, CropBy::kProducts}) {
    const torch::Tensor crops = crops_of(features, boxes, crop, by);
    ASSERT_EQ(crops.sizes(), torch::IntArrayRef({int64_t(boxes.size()), channels, crop, crop}));
    for (size_t i = 0; i < boxes.size(); ++i) {
      torch::Tensor expected = torch::empty({crop, crop, channels});
      detect::crop_and_resize({rows.data_ptr<float>(), {height, width}, channels}, boxes[i], crop,
                              expected.data_ptr<float>());
      EXPECT_LT((crops[int64_t(i)].permute({1, 2, 0}) - expected).abs().max().item<float>(), 1e-4)
          << "box " << i;
    }
  }
}

TEST(CropTorch, ImagesOfABatchHaveTheCropsThatTheyHaveAlone) {
  const std::vector<Size> sizes = {{5, 9}, {7, 6}, {7, 9}};
  const torch::Tensor batch = test::random_images(3, 7, 9, 5);  // beyond an image: other numbers
  std::vector<ImageCrops> images;
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto boxes = some_boxes();
    boxes.resize(boxes.size() - 2 * i);
    images.push_back({boxes, sizes[i]});
  }
  for (const CropBy by : {CropBy::kSamples, CropBy::kProducts}) {
    const torch::Tensor found = crop_and_pool(batch, images, {6, 2}, by);
    int64_t row = 0;
    for (size_t i = 0; i < images.size(); ++i) {
      const torch::Tensor own =
          batch.narrow(0, int64_t(i), 1).narrow(2, 0, sizes[i].height).narrow(3, 0, sizes[i].width);
      const torch::Tensor alone = crop_and_pool(own, {&images[i], 1}, {6, 2}, CropBy::kSamples);
      EXPECT_LT((found.narrow(0, row, alone.size(0)) - alone).abs().max().item<float>(), 1e-5) << i;
      row += alone.size(0);
    }
    EXPECT_EQ(found.size(0), row);
  }
}

TEST(CropTorch, GradientsEqualFiniteDifferences) {
  const torch::Tensor weights = torch::sin(torch::arange(6 * 3 * 4 * 4, torch::kFloat64));
  for (const CropBy by : {CropBy::kSamples, CropBy::kProducts}) {
    torch::Tensor features =
        test::random_images(1, 5, 6, 4).to(torch::kFloat64).requires_grad_(true);
    auto value = [&](const torch::Tensor& at) {
      return (crops_of(at, some_boxes(), 4, by).reshape({-1}) * weights).sum();
    };
    value(features).backward();
    const torch::Tensor gradient = features.grad().reshape({-1});
    torch::NoGradGuard no_grad;
    const double step = 1e-5;
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      torch::Tensor up = features.clone(), down = features.clone();
      up.view({-1})[i] += step;
      down.view({-1})[i] -= step;
      const double numeric = ((value(up) - value(down)) / (2 * step)).item<double>();
      EXPECT_NEAR(gradient[i].item<double>(), numeric, 1e-6) << i;
    }
  }
}

TEST(Detector, WeightsHaveTheirPlacesInTheFile) {
  for (Halting halting : {Halting::kNone, Halting::kSact}) {
    const ModelSpec spec = tiny_detector(halting);
    const std::vector<Weight> weights = test::random_weights(spec, 5);
    Detector detector = make_detector(spec, weights);
    const std::vector<Weight> back = detector_weights(detector);
    ASSERT_EQ(back.size(), weights.size());
    for (size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(back[i].info.name, weights[i].info.name);
      EXPECT_EQ(back[i].values, weights[i].values) << back[i].info.name;
    }
  }
}

TEST(Detector, TheExtractorIsTheClassifiersFirstBlocks) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  ModelSpec classifier = spec;
  classifier.detection.reset();
  const std::vector<Weight> weights = test::random_weights(classifier, 6);
  Network network = make_network(classifier, weights);
  const torch::Tensor image = test::random_images(1, 50, 70, 7);
  torch::NoGradGuard no_grad;
  std::vector<Weight> shared = test::random_weights(spec, 6);
  for (Weight& weight : shared) {
    for (const Weight& from : weights) {
      if (from.info.name == weight.info.name && !weight.info.name.starts_with("head.")) {
        weight.values = from.values;
      }
    }
  }
  Detector detector = make_detector(spec, shared);
  const NetworkOutput whole = network->forward(image);
  const NetworkOutput part = detector->extract(image);
  ASSERT_EQ(part.blocks.size(), 2u);
  for (size_t block = 0; block < 2; ++block) {
    EXPECT_TRUE(torch::equal(part.blocks[block].ponder_cost, whole.blocks[block].ponder_cost));
  }
}

TEST(Detector, FindsBoxesInsideTheImageOnAnySize) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  Detector detector = make_detector(spec, test::random_weights(spec, 8));
  for (Size size : {Size{64, 64}, Size{64, 101}, Size{97, 64}}) {
    const DetectionOutput output =
        detect(detector, test::random_images(1, size.height, size.width, 9), {0.0f, 50});
    EXPECT_GT(output.proposals.size(), 1u);
    EXPECT_LE(output.proposals.size(), 20u);
    EXPECT_EQ(output.outputs.sizes(),
              torch::IntArrayRef({int64_t(output.proposals.size()), 1 + 5 * 3}));
    for (const detect::Detection& found : output.detections) {
      EXPECT_GE(found.box.x0, 0);
      EXPECT_LE(found.box.x1, size.width);
      EXPECT_LE(found.box.y1, size.height);
      EXPECT_LT(found.label, 3);
    }
  }
}

DetectionLoss loss_of(DetectorParts& parts, const torch::Tensor& image,
                      const std::vector<detect::Object>& objects,
                      const DetectionLossOptions& options, Random random) {
  const ImageTruth truth{size_of(image), objects, random};
  return detection_loss(parts, image, {&truth, 1}, options);
}

DetectionLossOptions weighed(double tau, double head_tau) {
  return {torch::tensor(tau, torch::kFloat64), torch::tensor(head_tau, torch::kFloat64), 32, 16};
}

TEST(DetectionLoss, GradientsEqualFiniteDifferences) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  Detector detector = make_detector(spec, test::random_weights(spec, 10));
  detector->to(torch::kFloat64);
  const torch::Tensor image = test::random_images(1, 64, 80, 11).to(torch::kFloat64);
  const std::vector<detect::Object> objects = {
      {{5, 6, 30, 40}, 2, false}, {{40, 20, 60, 36}, 0, false}, {{0, 40, 20, 64}, 1, true}};
  DetectorParts parts(detector);
  auto loss = [&] { return loss_of(parts, image, objects, weighed(0.01, 0.02), Random(12)); };
  detector->zero_grad();
  const DetectionLoss at = loss();
  EXPECT_NEAR(
      at.total.item<double>(),
      (at.parts.narrow(0, 0, 4).sum() + 0.01 * at.parts[4] + 0.02 * at.parts[5]).item<double>(),
      1e-8);
  at.total.backward();
  torch::NoGradGuard no_grad;
  // Proposals move with the weights below them, without gradients: only layers after them, and
  // their own biases as long as the order of scores stays, can be compared.
  for (const char* name : {"boxes.head.fc.weight", "boxes.head.fc.bias", "boxes.norm.bias"}) {
    torch::Tensor parameter = detector->named_parameters()[name];
    for (int64_t i = 0; i < parameter.numel(); i += 1 + parameter.numel() / 17) {
      const double step = 1e-5;
      torch::Tensor value = parameter.view({-1})[i];
      value += step;
      const double up = loss().total.item<double>();
      value -= 2 * step;
      const double down = loss().total.item<double>();
      value += step;
      EXPECT_NEAR(parameter.grad().view({-1})[i].item<double>(), (up - down) / (2 * step), 1e-6)
          << name << " " << i;
    }
  }
}

TEST(DetectionLoss, AnImageWithoutObjectsHasNoBoxLoss) {
  const ModelSpec spec = tiny_detector(Halting::kNone);
  Detector detector = make_detector(spec, test::random_weights(spec, 13));
  DetectorParts parts(detector);
  const DetectionLoss loss = loss_of(parts, test::random_images(1, 64, 64, 14), {}, {}, Random(15));
  EXPECT_EQ(loss.parts[1].item<float>(), 0);
  EXPECT_EQ(loss.parts[3].item<float>(), 0);
  EXPECT_TRUE(torch::isfinite(loss.total).item<bool>());
}

TEST(DetectionLoss, AnImageFilledByACrowdTeachesNothingAndStopsNothing) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  Detector detector = make_detector(spec, test::random_weights(spec, 17));
  DetectorParts parts(detector);
  // Larger than the image, so that anchors beyond its edges lie in it too.
  const std::vector<detect::Object> objects = {{{-64, -64, 128, 128}, 1, true}};
  const DetectionLoss loss =
      loss_of(parts, test::random_images(1, 64, 64, 18), objects, weighed(0.01, 0), Random(19));
  for (int64_t part = 0; part < 4; ++part) EXPECT_EQ(loss.parts[part].item<float>(), 0) << part;
  EXPECT_GT(loss.parts[4].item<float>(), 0);
  loss.total.backward();
  for (const torch::Tensor& parameter : detector->parameters()) {
    if (parameter.grad().defined()) {
      EXPECT_TRUE(torch::isfinite(parameter.grad()).all().item<bool>());
    }
  }
}

TEST(DetectionLoss, ThePonderCostsAreThoseOfTheExtractorAndOfTheHead) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  Detector detector = make_detector(spec, test::random_weights(spec, 20));
  DetectorParts parts(detector);
  const torch::Tensor image = test::random_images(1, 64, 64, 21);
  const std::vector<detect::Object> objects = {{{5, 6, 30, 40}, 2, false}};
  auto gradients = [&](double tau, double head_tau) {
    detector->zero_grad();
    loss_of(parts, image, objects, weighed(tau, head_tau), Random(22)).total.backward();
    std::map<std::string, torch::Tensor> gradients;
    for (const auto& parameter : detector->named_parameters()) {
      gradients[parameter.key()] = parameter.value().grad().clone();
    }
    return gradients;
  };
  const auto without = gradients(0, 0), with = gradients(100, 0), of_head = gradients(0, 100);
  int halting = 0, head_halting = 0;
  for (const auto& [name, gradient] : without) {
    const double change = (with.at(name) - gradient).abs().max().item<double>();
    const double by_head = (of_head.at(name) - gradient).abs().max().item<double>();
    const bool of_score = name.find("halting") != std::string::npos;
    if (name.starts_with("boxes.")) {
      EXPECT_EQ(change, 0) << name;
      head_halting += of_score && by_head > 0;
    } else if (name.starts_with("extractor.") && of_score) {
      halting += change > 0;
    }
  }
  EXPECT_GT(halting, 0);
  EXPECT_GT(head_halting, 0);
}

TEST(DetectionLoss, SharesAreThoseOfTheImagesAndOfTheirBoxes) {
  const ModelSpec spec = tiny_detector(Halting::kSact);
  std::vector<Weight> weights = test::random_weights(spec, 20);
  for (Weight& weight : weights) {
    if (weight.info.role == WeightRole::kHaltingBias) weight.values = {2};
  }
  Detector detector = make_detector(spec, weights);
  DetectorParts parts(detector);
  const torch::Tensor image = test::random_images(1, 64, 96, 21);
  const DetectionLoss loss = loss_of(parts, image, {}, weighed(0, 0), Random(22));
  const DetectionOutput found = detect(detector, image, {});
  const double dense = double(dense_flops(detector->extractor_spec(), size_of(image)));
  EXPECT_LT(found.extracted.flops, dense * 0.999) << "something halts";
  EXPECT_NEAR(loss.share.item<double>(), double(found.extracted.flops) / dense, 1e-5);
  EXPECT_GT(loss.head_share.item<double>(), 0.2);
  EXPECT_LT(loss.head_share.item<double>(), 1.1);
}

TEST(SampleLoader, BoxesAreMirroredWithTheirPicture) {
  const auto dataset =
      detect::synthetic_detection_dataset("synthetic:size=64,count=8,val=1", "train");
  const StoredPictures pictures(*dataset, 50, /*keep=*/false);
  for (int64_t index = 0; index < dataset->size(); ++index) {
    const auto picture = pictures.get(index);
    const DetectionSample plain = training_sample(*dataset, index, *picture, {50, false});
    const DetectionSample mirrored = training_sample(*dataset, index, *picture, {50, true});
    EXPECT_TRUE(torch::equal(mirrored.pixels, plain.pixels.flip(2)));
    ASSERT_FALSE(plain.objects.empty());
    ASSERT_EQ(mirrored.objects.size(), plain.objects.size());
    for (size_t i = 0; i < plain.objects.size(); ++i) {
      const Box& box = plain.objects[i].box;
      EXPECT_EQ(mirrored.objects[i].box, (Box{50 - box.x1, box.y0, 50 - box.x0, box.y1}));
      EXPECT_EQ(mirrored.objects[i].label, plain.objects[i].label);
      const Box given = dataset->objects(index)[i].box;
      EXPECT_NEAR(box.x0, given.x0 * 50 / 64, 1e-4);
      EXPECT_NEAR(box.y1, given.y1 * 50 / 64, 1e-4);
    }
  }
}

TEST(DetectionLossOnCuda, RecordedPartsHaveTheSameGradients) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    const ModelSpec spec = tiny_detector(halting);
    Detector detector = make_detector(spec, test::random_weights(spec, 16));
    detector->to(torch::Device(torch::kCUDA));
    DetectorPartsOptions record;
    record.record = true;
    record.recorded_boxes = 16;
    DetectorParts recorded(detector, record), plain(detector);
    const std::vector<detect::Object> objects = {{{5, 6, 30, 40}, 2, false},
                                                 {{40, 20, 60, 36}, 0, false}};
    auto gradient = [&](DetectorParts& parts, uint64_t step) {
      detector->zero_grad();
      for (uint64_t picture : {3 * step, 3 * step + 1, 3 * step + 2}) {  // gradients add up
        const int height = picture % 3 ? 64 : 80;
        const auto images = test::random_images(2, height, 80, picture).to(torch::kCUDA);
        // Of the second step on the other image is smaller than the batch, by another number.
        const Size smaller{height, step == 0 ? 80 : 80 - int(step)};
        const std::vector<ImageTruth> truth = {{{height, 80}, objects, Random(picture)},
                                               {smaller, objects, Random(picture + 9)}};
        detection_loss(parts, images, truth, weighed(0.01, 0.02)).total.backward();
      }
      std::vector<torch::Tensor> all;
      for (const torch::Tensor& parameter : detector->parameters()) {
        all.push_back(parameter.grad().flatten().clone());
      }
      return torch::cat(all);
    };
    for (uint64_t step = 0; step < 5; ++step) {
      const torch::Tensor expected = gradient(plain, step);
      const torch::Tensor found = gradient(recorded, step);
      EXPECT_GT(expected.norm().item<double>(), 0);
      EXPECT_LT(((found - expected).norm() / expected.norm()).item<double>(), 1e-4) << step;
      torch::NoGradGuard no_grad;  // what was recorded must see new weights
      for (torch::Tensor& parameter : detector->parameters()) {
        parameter.sub_(parameter.grad(), 0.01);
      }
    }
  }
}

}  // namespace
}  // namespace sact::train
