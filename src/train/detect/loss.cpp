#include "train/detect/loss.h"

#include "detect/box_coding.h"
#include "train/torch/halting_torch.h"

namespace sact::train {
namespace {

constexpr double kSmoothing = 1;  // where the loss of codes turns from square to linear

struct Targets {
  std::vector<int64_t> numbers;  // of the boxes drawn
  torch::Tensor chosen;          // [n]: the same
  torch::Tensor classes;         // [n]: 0 is background
  torch::Tensor codes;           // [objects, 4]
  int64_t objects = 0;           // the first so many of the chosen

  Targets(std::span<const Box> boxes, std::span<const detect::Object> truth,
          const detect::MatchOptions& matching, int count, double share, const Random& random,
          torch::Device device) {
    const std::vector<int32_t> matches = detect::match(boxes, truth, matching);
    detect::BoxSample sample = detect::draw_sample(matches, count, share, random);
    objects = sample.objects;
    torch::Tensor labels = torch::zeros({int64_t(sample.chosen.size())}, torch::kInt64);
    torch::Tensor wanted = torch::empty({objects, 4});
    for (int64_t i = 0; i < objects; ++i) {
      const size_t box = size_t(sample.chosen[size_t(i)]);
      const detect::Object& object = truth[size_t(matches[box])];
      const detect::BoxCode code = detect::encode(object.box, boxes[box]);
      labels.data_ptr<int64_t>()[i] = object.label + 1;
      for (int k = 0; k < 4; ++k) {
        wanted.data_ptr<float>()[4 * i + k] =
            std::array{code.x, code.y, code.width, code.height}[size_t(k)];
      }
    }
    chosen = torch::tensor(sample.chosen, torch::kInt64).to(device);
    classes = labels.to(device);
    codes = wanted.to(device);
    numbers = std::move(sample.chosen);
  }
};

/// A sum over the boxes drawn as their mean: 0 where none was, as when a crowd fills the image.
torch::Tensor mean_of(const torch::Tensor& sum, const Targets& targets) {
  return sum / double(std::max<int64_t>(targets.chosen.size(0), 1));
}

/// The sum over the codes of objects, divided by the number of boxes drawn.
torch::Tensor code_loss(const torch::Tensor& codes, const Targets& targets) {
  return mean_of(torch::smooth_l1_loss(codes, targets.codes, at::Reduction::Sum, kSmoothing),
                 targets);
}

}  // namespace

DetectionLoss detection_loss(DetectorParts& parts, const torch::Tensor& image,
                             std::span<const detect::Object> objects,
                             const DetectionLossOptions& options, const Random& random) {
  const Size size = size_of(image);
  const torch::Device device = image.device();
  const Detector& detector = parts.detector();
  const auto [features, proposal, ponder] = parts.extract(image);
  const auto& [scores, codes] = proposal;
  const std::vector<Box> anchors = detector->anchors(size_of(features));

  Random draws = random;
  const Targets anchor_targets(anchors, objects, {0.7f, 0.3f, true}, options.anchors, 0.5,
                               Random(draws.bits()), device);
  const torch::Tensor score_loss = mean_of(
      torch::binary_cross_entropy_with_logits(scores.index_select(0, anchor_targets.chosen),
                                              anchor_targets.classes.gt(0).to(scores.scalar_type()),
                                              {}, {}, at::Reduction::Sum),
      anchor_targets);
  const torch::Tensor anchor_loss =
      code_loss(codes.index_select(0, anchor_targets.chosen.narrow(0, 0, anchor_targets.objects)),
                anchor_targets);

  // The true boxes are among those that the head sees, or it would see none at first.
  std::vector<Box> boxes = detector->propose(proposal, anchors, size);
  for (const detect::Object& object : objects) {
    if (!object.crowd) boxes.push_back(object.box);
  }
  const Targets box_targets(boxes, objects, {0.5f, 0.5f, false}, options.boxes, 0.25,
                            Random(draws.bits()), device);
  std::vector<Box> drawn;
  for (int64_t number : box_targets.numbers) drawn.push_back(boxes[size_t(number)]);
  const int classes = detector->spec().classes;
  const torch::Tensor outputs = at_least_float32(parts.classify(features, drawn, size));
  const torch::Tensor class_loss =
      mean_of(torch::cross_entropy_loss(outputs.narrow(1, 0, 1 + classes), box_targets.classes, {},
                                        at::Reduction::Sum),
              box_targets);
  const int64_t found = box_targets.objects;
  const torch::Tensor of_class = box_targets.classes.narrow(0, 0, found) - 1;
  const torch::Tensor box_codes = outputs.narrow(0, 0, found)
                                      .narrow(1, 1 + classes, 4 * classes)
                                      .view({found, classes, 4})
                                      .gather(1, of_class.view({found, 1, 1}).expand({found, 1, 4}))
                                      .squeeze(1);
  const torch::Tensor box_loss = code_loss(box_codes, box_targets);

  DetectionLoss loss;
  loss.total = score_loss + anchor_loss + class_loss + box_loss;
  if (detector->spec().adaptive()) loss.total = loss.total + options.tau * ponder;
  loss.parts = torch::stack({score_loss.detach(), anchor_loss.detach(), class_loss.detach(),
                             box_loss.detach(), ponder.detach().to(score_loss.scalar_type())});
  return loss;
}

}  // namespace sact::train
