#include "train/detect/loss.h"

#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "detect/box_coding.h"
#include "train/torch/halting_torch.h"

namespace sact::train {
namespace {

constexpr double kSmoothing = 1;  // where the loss of codes turns from square to linear

/// Boxes of one image that were drawn for the loss, and what is wanted of them.
struct Drawn {
  std::vector<int64_t> numbers;        // those on objects first
  std::vector<int64_t> classes;        // 0 is background
  std::vector<detect::BoxCode> codes;  // of those on objects

  Drawn() = default;
  Drawn(std::span<const Box> boxes, std::span<const detect::Object> truth,
        const detect::MatchOptions& matching, int count, double share, const Random& random) {
    const std::vector<int32_t> matches = detect::match(boxes, truth, matching);
    detect::BoxSample sample = detect::draw_sample(matches, count, share, random);
    numbers = std::move(sample.chosen);
    classes.resize(numbers.size(), 0);
    for (int64_t i = 0; i < sample.objects; ++i) {
      const size_t box = size_t(numbers[size_t(i)]);
      const detect::Object& object = truth[size_t(matches[box])];
      classes[size_t(i)] = object.label + 1;
      codes.push_back(detect::encode(object.box, boxes[box]));
    }
  }
};

/// Those of all images on the device. A box counts with the inverse of how many were drawn of its
/// image, and an image with the inverse of how many there are.
struct Targets {
  torch::Tensor chosen;          // [n]: numbers among the boxes of all images
  torch::Tensor classes;         // [n]
  torch::Tensor weights;         // [n]
  torch::Tensor objects;         // [m]: which of the n are on objects
  torch::Tensor codes;           // [m, 4]
  torch::Tensor object_weights;  // [m, 1]

  /// `number` gives the number of a box of an image.
  template <typename Number>
  Targets(std::span<const Drawn> drawn, const Number& number, torch::Device device) {
    std::vector<int64_t> rows, labels, on_objects;
    std::vector<float> shares, wanted, object_shares;
    for (size_t image = 0; image < drawn.size(); ++image) {
      const Drawn& own = drawn[image];
      const float share = 1.0f / float(std::max<size_t>(own.numbers.size(), 1) * drawn.size());
      for (size_t i = 0; i < own.codes.size(); ++i) {
        const detect::BoxCode& code = own.codes[i];
        on_objects.push_back(int64_t(rows.size() + i));
        object_shares.push_back(share);
        wanted.insert(wanted.end(), {code.x, code.y, code.width, code.height});
      }
      for (size_t i = 0; i < own.numbers.size(); ++i) {
        rows.push_back(number(image, own.numbers[i]));
        shares.push_back(share);
      }
      labels.insert(labels.end(), own.classes.begin(), own.classes.end());
    }
    // In two copies to the device.
    const auto n = int64_t(rows.size()), m = int64_t(on_objects.size());
    const torch::Tensor whole =
        on_device<int64_t>({rows, labels, on_objects}, torch::kInt64, device);
    const torch::Tensor real =
        on_device<float>({shares, object_shares, wanted}, torch::kFloat32, device);
    chosen = whole.narrow(0, 0, n);
    classes = whole.narrow(0, n, n);
    objects = whole.narrow(0, 2 * n, m);
    weights = real.narrow(0, 0, n);
    object_weights = real.narrow(0, n, m).view({m, 1});
    codes = real.narrow(0, n + m, 4 * m).view({m, 4});
  }

 private:
  template <typename Value>
  static torch::Tensor on_device(const std::vector<std::vector<Value>>& lists,
                                 torch::ScalarType type, torch::Device device) {
    std::vector<Value> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    const torch::Tensor host = torch::empty({int64_t(all.size())}, type);
    std::copy(all.begin(), all.end(), host.data_ptr<Value>());
    return (device.is_cuda() ? host.pin_memory() : host).to(device, /*non_blocking=*/true);
  }
};

/// The sum over the codes of objects.
torch::Tensor code_loss(const torch::Tensor& codes, const Targets& targets) {
  return (torch::smooth_l1_loss(codes, targets.codes, at::Reduction::None, kSmoothing) *
          targets.object_weights)
      .sum();
}

/// The anchors of a batch's images, each with those of its own features.
class BatchAnchors {
 public:
  BatchAnchors(const Detector& detector, std::span<const ImageTruth> truth, Size features)
      : per_cell_(detector->spec().detection->anchors()), features_(features) {
    for (const ImageTruth& image : truth) {
      const Size grid = detector->feature_size(image.size);
      auto [place, is_new] = made_.try_emplace({grid.height, grid.width});
      if (is_new) place->second = detector->anchors(grid);
      images_.push_back({grid, &place->second});
    }
  }

  std::span<const Box> of(size_t image) const { return *images_[image].anchors; }

  /// The number among the anchors of all images and of padding.
  int64_t number(size_t image, int64_t anchor) const {
    const int64_t row = int64_t(images_[image].grid.width) * per_cell_;
    return (int64_t(image) * features_.height + anchor / row) * padded_row() + anchor % row;
  }

  /// What `values` [B, anchors, n] has for an image's own anchors.
  std::vector<float> own_values(const torch::Tensor& values, size_t image) const {
    const int64_t n = values.size(2);
    const Size grid = images_[image].grid;
    const float* from = values.data_ptr<float>() + int64_t(image) * values.stride(0);
    std::vector<float> own;
    own.reserve(size_t(grid.positions() * per_cell_ * n));
    for (int64_t y = 0; y < grid.height; ++y) {
      const float* row = from + y * padded_row() * n;
      own.insert(own.end(), row, row + int64_t(grid.width) * per_cell_ * n);
    }
    return own;
  }

 private:
  struct OfImage {
    Size grid;
    const std::vector<Box>* anchors;
  };
  int64_t padded_row() const { return int64_t(features_.width) * per_cell_; }

  int64_t per_cell_;
  Size features_;
  std::map<std::pair<int, int>, std::vector<Box>> made_;
  std::vector<OfImage> images_;
};

struct ProposalLoss {
  torch::Tensor score, box;
};

ProposalLoss proposal_loss(const ProposalOutput& said, const Targets& targets) {
  const torch::Tensor scores = said.scores.reshape({-1}), codes = said.codes.reshape({-1, 4});
  const torch::Tensor on_objects = targets.chosen.index_select(0, targets.objects);
  return {torch::binary_cross_entropy_with_logits(scores.index_select(0, targets.chosen),
                                                  targets.classes.gt(0).to(scores.scalar_type()),
                                                  targets.weights, {}, at::Reduction::Sum),
          code_loss(codes.index_select(0, on_objects), targets)};
}

struct HeadLoss {
  torch::Tensor classes, box;
};

/// `outputs` has a row for each box of the targets.
HeadLoss head_loss(const torch::Tensor& outputs, const Targets& targets, int classes) {
  const torch::Tensor entropies = torch::cross_entropy_loss(
      outputs.narrow(1, 0, 1 + classes), targets.classes, {}, at::Reduction::None);
  const int64_t found = targets.objects.size(0);
  const torch::Tensor of_class = targets.classes.index_select(0, targets.objects) - 1;
  const torch::Tensor codes = outputs.index_select(0, targets.objects)
                                  .narrow(1, 1 + classes, 4 * classes)
                                  .view({found, classes, 4})
                                  .gather(1, of_class.view({found, 1, 1}).expand({found, 1, 4}))
                                  .squeeze(1);
  return {(entropies * targets.weights).sum(), code_loss(codes, targets)};
}

/// The boxes of an image that the head learns from.
struct SeenBoxes {
  Drawn drawn;
  std::vector<Box> boxes;  // those drawn
};

SeenBoxes draw_boxes(std::vector<Box> proposals, const ImageTruth& truth,
                     const DetectionLossOptions& options) {
  // The true boxes are among those that the head sees, or it would see none at first.
  for (const detect::Object& object : truth.objects) {
    if (!object.crowd) proposals.push_back(object.box);
  }
  Random draws = truth.random;
  draws.bits();  // those of the anchors
  SeenBoxes seen;
  seen.drawn = Drawn(proposals, truth.objects, {0.5f, 0.5f, false}, options.boxes, 0.25,
                     Random(draws.bits()));
  for (const int64_t number : seen.drawn.numbers) seen.boxes.push_back(proposals[size_t(number)]);
  return seen;
}

/// What anchors are to say, which no image's features have a part in.
Targets anchor_targets(const BatchAnchors& anchors, std::span<const ImageTruth> truth,
                       const DetectionLossOptions& options, torch::Device device) {
  std::vector<Drawn> drawn(truth.size());
  run_in_parallel(truth.size(), options.threads, [&](size_t i) {
    Random draws = truth[i].random;
    drawn[i] = Drawn(anchors.of(i), truth[i].objects, {0.7f, 0.3f, true}, options.anchors, 0.5,
                     Random(draws.bits()));
  });
  const auto number = [&](size_t image, int64_t anchor) { return anchors.number(image, anchor); };
  return {drawn, number, device};
}

/// Waits for the device, which has the proposals.
std::vector<SeenBoxes> seen_boxes(const Detector& detector, const ProposalOutput& said,
                                  const BatchAnchors& anchors, std::span<const ImageTruth> truth,
                                  const DetectionLossOptions& options) {
  torch::NoGradGuard no_grad;
  const torch::Tensor all =
      torch::cat({said.scores.unsqueeze(2), said.codes}, 2).to(torch::kCPU, torch::kFloat32);
  const torch::Tensor scores = all.narrow(2, 0, 1).contiguous();
  const torch::Tensor codes = all.narrow(2, 1, 4).contiguous();
  std::vector<SeenBoxes> seen(truth.size());
  run_in_parallel(truth.size(), options.threads, [&](size_t i) {
    seen[i] =
        draw_boxes(detector->propose(anchors.own_values(scores, i), anchors.own_values(codes, i),
                                     anchors.of(i), truth[i].size),
                   truth[i], options);
  });
  return seen;
}

ImageAreas areas_of(const Detector& detector, std::span<const ImageTruth> truth,
                    const torch::Tensor& images) {
  std::vector<Size> sizes;
  for (const ImageTruth& image : truth) sizes.push_back(image.size);
  const ImageAreas areas(detector->extractor_spec(), sizes, size_of(images));
  return areas ? ImageAreas(areas.sizes().to(images.device())) : areas;
}

}  // namespace

DetectionLoss detection_loss(DetectorParts& parts, const torch::Tensor& images,
                             std::span<const ImageTruth> truth,
                             const DetectionLossOptions& options) {
  SACT_ASSERT(int64_t(truth.size()) == images.size(0));
  const torch::Device device = images.device();
  const Detector& detector = parts.detector();
  const auto [features, said, ponder, share] =
      parts.extract(images, areas_of(detector, truth, images));
  // Anchors are assigned while the device extracts; then it has to be waited for.
  const BatchAnchors anchors(detector, truth, size_of(features));
  const ProposalLoss of_proposals =
      proposal_loss(said, anchor_targets(anchors, truth, options, device));
  const std::vector<SeenBoxes> seen = seen_boxes(detector, said, anchors, truth, options);

  std::vector<ImageBoxes> boxes;
  std::vector<Drawn> drawn;
  for (size_t i = 0; i < truth.size(); ++i) {
    boxes.push_back({seen[i].boxes, truth[i].size});
    drawn.push_back(seen[i].drawn);
  }
  int64_t row = 0;  // boxes of all images come one after the other
  const Targets targets(
      drawn, [&](size_t, int64_t) { return row++; }, device);
  const DetectorParts::Classified classified = parts.classify(features, boxes);
  const HeadLoss of_head =
      head_loss(at_least_float32(classified.outputs), targets, detector->spec().classes);

  // As the other losses of the head, of every image the mean over its boxes.
  const torch::Tensor head_ponder = (classified.ponder * targets.weights).sum();

  DetectionLoss loss;
  loss.total = of_proposals.score + of_proposals.box + of_head.classes + of_head.box;
  if (detector->spec().adaptive()) {
    if (options.tau.defined()) loss.total = loss.total + options.tau * ponder;
    if (options.head_tau.defined()) loss.total = loss.total + options.head_tau * head_ponder;
  }
  const auto type = of_proposals.score.scalar_type();
  loss.parts = torch::stack({of_proposals.score.detach(), of_proposals.box.detach(),
                             of_head.classes.detach(), of_head.box.detach(),
                             ponder.detach().to(type), head_ponder.detach().to(type)});
  loss.share = share;
  loss.head_share = classified.share;
  return loss;
}

}  // namespace sact::train
