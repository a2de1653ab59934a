#include "app/tensor_input.h"

#include "base/error.h"
#include "io/safetensors.h"
#include "model/preprocess.h"
#include "model/result.h"

namespace sact::app {

TensorInput read_tensor_input(const std::filesystem::path& path) {
  const std::string name = path.string();
  const io::SafetensorsFile file(path);
  const io::TensorView* tensor = file.find("image");
  if (!tensor) fail("{}: has no tensor named 'image'", name);
  const io::Shape& shape = tensor->shape;
  if (shape.size() != 4 || shape[1] != 3 || shape[0] < 1) {
    fail("{}: tensor 'image' must have the shape [N, 3, H, W], found {}", name,
         io::shape_text(shape));
  }
  if (shape[2] > kMaxImageSide || shape[3] > kMaxImageSide) {
    fail("{}: tensor 'image' of shape {} is too large", name, io::shape_text(shape));
  }
  TensorInput input;
  input.size = {int(shape[2]), int(shape[3])};
  validate_image_size(input.size, name + ": ");
  input.planes = io::float_values(*tensor, name + ": image");
  input.count = int(shape[0]);
  if (!all_finite(input.planes)) fail("{}: tensor 'image' has values that are not finite", name);
  return input;
}

}  // namespace sact::app
