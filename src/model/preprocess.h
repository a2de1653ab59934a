// From a photograph to network input: which part of it a network sees, at which size, and in which
// numbers.
#pragma once

#include <span>
#include <vector>

#include "io/image.h"
#include "io/resize.h"
#include "model/spec.h"

namespace sact {

/// The part of a photograph that a network sees, and at which size.
struct View {
  io::Crop crop;
  Size size;
};

/// How a photograph of any shape becomes an image of a size.
enum class Framing {
  kCentralCrop,  // as in evaluation: the model's central crop, scaled to the size
  kStretched,    // all of it, scaled to the size
  kKeepAspect,   // all of it with its aspect ratio, the shorter side being the size's height
};

struct ViewOptions {
  Framing framing = Framing::kCentralCrop;
  Size size = {0, 0};  // 0x0: the model's own
};

/// What a network sees of an image. Throws sact::Error where no network can be run on images of
/// that size.
View view_of(const io::PixelView& image, const InputSpec& input, const ViewOptions& options);

/// What a detector sees of an image: all of it, with the shorter side that the detector wants.
View detection_view(const io::PixelView& image, const DetectionSpec& detection);

/// The numbers of a view: (v / 255 - mean) / std of the resized part. Pixels [H, W, 3] go to
/// `pixels`, which has room for just these.
void fill_network_pixels(const io::PixelView& image, const View& view, const InputSpec& input,
                         std::span<float> pixels);
/// The same behind what is in `pixels`. sact::Error when there is no memory for it.
void append_network_pixels(const io::PixelView& image, const View& view, const InputSpec& input,
                           std::vector<float>& pixels);
std::vector<float> network_pixels(const io::PixelView& image, const View& view,
                                  const InputSpec& input);
/// The same as planes [3, H, W].
std::vector<float> network_input(const io::PixelView& image, const io::Crop& crop, Size size,
                                 const InputSpec& input);

/// Whole image, aspect ratio kept: the size whose shorter side is `side`.
Size size_keeping_aspect(int width, int height, int side);

/// Whether no value is infinite or not a number; for input that somebody else has prepared.
bool all_finite(std::span<const float> values);

}  // namespace sact
