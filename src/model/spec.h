// ModelSpec: the one description of a network. It is stored as JSON in the model file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"
#include "sact/types.h"

namespace sact {

/// 7x7 stride 2 and max pool, 3x3 stride 1, or none: what enters are the features of another
/// network, as in the part of a detector that classifies boxes.
enum class Stem { kImageNet, kSmall, kNone };
/// 1x1, 3x3, 1x1 convolutions (bottleneck) or two of 3x3 (basic). Norm and ReLU come before each
/// convolution; in units of version 1 the norm comes after each and a ReLU after the sum, as in the
/// first residual networks and most that are published.
enum class UnitKind { kBottleneck, kBasic, kBottleneckV1, kBasicV1 };
/// Which convolution of a block's first bottleneck unit has the stride of 2: the first, as in the
/// first publication, or the middle one.
enum class StrideOn { k3x3, k1x1 };
/// Padding of the stem's 3x3 max pooling of stride 2: a line on every side (PyTorch); lines after
/// the image before those in front of it (TensorFlow's SAME); none, where the last window may reach
/// beyond the image (Caffe); none.
enum class StemPool { kSymmetric, kSame, kCeil, kValid };

/// How photographs become network input.
struct InputSpec {
  int size = 224;       // side of the square that evaluation uses
  double crop = 0.875;  // share of each side that the central crop keeps
  std::array<double, 3> mean = {0.485, 0.456, 0.406};
  std::array<double, 3> std = {0.229, 0.224, 0.225};
  std::map<std::string, std::string> unknown;  // as ModelSpec::unknown
};

/// How much objectness the boxes have that objects of at least this score are found in; all but a
/// few, as `sact calibrate` has measured it.
struct BoxCut {
  double score = 0, objectness = 0;
};

/// What makes a network a detector (Faster R-CNN): all blocks but the last extract features, in
/// which boxes are proposed; the last block classifies what is cropped out of them.
struct DetectionSpec {
  int shorter_side = 600;  // of images, which are scaled to it
  std::vector<double> anchor_sizes = {64, 128, 256, 512};
  std::vector<double> anchor_ratios = {0.5, 1, 2};  // height / width
  int proposal_channels = 512;                      // of the layer that proposals come from
  int proposals = 300;
  double nms_iou = 0.6;                        // of proposals, and of the boxes of a class
  int crop = 28;                               // samples a side of a box
  int pool = 4;                                // samples a side that are pooled into one
  std::vector<BoxCut> box_cuts;                // by rising score; none: all boxes are looked at
  std::map<std::string, std::string> unknown;  // as ModelSpec::unknown

  int cells() const { return crop / pool; }
  int anchors() const { return int(anchor_sizes.size() * anchor_ratios.size()); }
};

struct ModelSpec {
  Stem stem = Stem::kImageNet;
  StemPool stem_pool = StemPool::kSymmetric;
  UnitKind unit = UnitKind::kBottleneck;
  StrideOn stride_on = StrideOn::k3x3;
  std::vector<int> units = {3, 4, 23, 3};  // residual units of each block
  int width = 64;                          // bottleneck width of block 1; doubles in every block
  int classes = 1000;                      // of objects, in a detector; 0: features alone
  Halting halting = Halting::kNone;
  double epsilon = 0.01;
  double score_floor = 0;  // under halting scores; see halting_score()
  int tile = 1;
  bool halting_norm = true;
  double norm_epsilon = 1e-5;
  InputSpec input;
  std::optional<DetectionSpec> detection;
  std::vector<std::string> labels;             // empty, or one for each class
  std::map<std::string, std::string> unknown;  // keys we do not know, with their JSON: kept

  int blocks() const { return int(units.size()); }
  int total_units() const;
  bool adaptive() const { return halting != Halting::kNone; }
  int block_width(int block) const { return width << block; }
  int block_channels(int block) const;        // of the residual stream inside a block
  int block_input_channels(int block) const;  // of what enters its first unit
  int stem_channels() const;
  int unit_stride(int block, int unit) const { return block > 0 && unit == 0 ? 2 : 1; }
  /// The units 1 ... L-1 of an adaptive block have a halting score; the last always stops.
  bool has_halting_score(int block, int unit) const;
  /// Outputs of the last layer: classes; in a detector the scores of background and classes, and
  /// then four numbers for the box of each class.
  int outputs() const { return detection ? 1 + 5 * classes : classes; }
  /// Resolution of the residual stream inside a block for an input image of that size.
  Size block_size(int block, Size image) const;
  Size stem_size(Size image) const;  // after the stem convolution, before pooling
  /// Pixels between neighbours in a block, a side.
  int block_stride(int block) const;
  /// The label of a class, or "class 7" when the model has no labels.
  std::string label(int class_index) const;
};

inline constexpr int kMinImageSide = 32;
inline constexpr int kMaxImageSide = 32768;

/// Throws sact::Error, naming the key, when a value makes no sense. `name` says whose spec it is.
void validate(const ModelSpec& spec, const std::string& name);

/// Throws sact::Error, its message after `prefix`, unless a network can be run on images of that
/// size.
void validate_image_size(Size image, const std::string& prefix = {});

/// Units per block of the usual depths: 50, 101, 152.
std::vector<int> units_of_depth(int depth);

std::string to_json(const ModelSpec& spec, int indent = -1);
/// Missing keys take their default; unknown keys are kept in `unknown`. The result is validated.
ModelSpec spec_from_json(std::string_view json, const std::string& name);

std::string_view name_of(Stem stem);
std::string_view name_of(UnitKind unit);
std::string_view name_of(Halting halting);
std::string_view name_of(StrideOn stride_on);
std::string_view name_of(StemPool pool);

bool is_preactivation(UnitKind unit);
/// Channels of the residual stream for each of a unit's width.
int expansion(UnitKind unit);
/// "bottleneck", "basic", ...: what unit_from_name() knows.
std::vector<std::string> unit_names();

/// The inverses of name_of(); `what` names the option or key in messages.
Stem stem_from_name(std::string_view name, std::string_view what);
UnitKind unit_from_name(std::string_view name, std::string_view what);
Halting halting_from_name(std::string_view name, std::string_view what);
StrideOn stride_on_from_name(std::string_view name, std::string_view what);
StemPool stem_pool_from_name(std::string_view name, std::string_view what);

/// "224", "224x320" (height x width).
Size parse_size(std::string_view text);

}  // namespace sact
