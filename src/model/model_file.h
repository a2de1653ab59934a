// A model is one safetensors file: the weights, and the ModelSpec under the metadata key "sact".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"
#include "model/dial.h"
#include "model/quantization.h"
#include "model/spec.h"
#include "model/weights.h"

namespace sact {

/// The metadata key of the spec, in model files and in what is exported from them.
inline constexpr std::string_view kSpecKey = "sact";

/// An opened model. Opening checks that every weight of the spec is there, with its shape and as
/// floating point numbers, or as whole numbers with their scales; the values stay as they are
/// stored until asked for.
class ModelFile {
 public:
  explicit ModelFile(const std::filesystem::path& path);

  const ModelSpec& spec() const { return spec_; }
  std::string name() const { return file_.name(); }
  bool spec_was_stored() const { return spec_was_stored_; }
  /// What `sact calibrate` stored, if it did.
  const std::optional<Dial>& dial() const { return dial_; }
  /// Of a model that was calibrated for whole numbers of 8 bits, by layer; others have none.
  const InputScales& input_scales() const { return input_scales_; }
  /// Remarks a user should see: unknown spec keys, tensors that no layer uses.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The values of a weight, as float. Refuses values that are not finite.
  std::vector<float> values(const WeightInfo& weight) const;
  /// The tensor of that name as it is stored, or null.
  const io::TensorView* find(std::string_view name) const { return file_.find(name); }
  /// The type most weights are stored in.
  io::Dtype dtype() const;

  /// Writes the same file with this dial; `path` may be its own.
  void write_with_dial(const std::filesystem::path& path, const Dial& dial) const;
  /// Likewise a detector with these cuts, that looks at no more boxes of an image than that.
  void write_with_box_cuts(const std::filesystem::path& path, std::vector<BoxCut> cuts,
                           int proposals) const;

 private:
  void write_with(const std::filesystem::path& path, const ModelSpec& spec,
                  const io::Metadata& more) const;
  void read_input_scales();

  io::SafetensorsFile file_;
  ModelSpec spec_;
  bool spec_was_stored_ = false;
  std::optional<Dial> dial_;
  InputScales input_scales_;
  std::vector<std::string> remarks_;
};

/// Throws sact::Error, saying what to use instead, when the model is a detector.
void expect_classifier(const ModelFile& file);
/// The other way round.
void expect_detector(const ModelFile& file);

/// A weight with its values.
struct Weight {
  WeightInfo info;
  std::vector<float> values;
};

/// The weights of a network of the given spec, by their names, out of a file that has them: its own
/// network, or one with fewer units.
std::vector<Weight> read_weights(const ModelFile& file, const ModelSpec& spec);

/// Writes a model file. With a 16-bit `dtype` convolution and linear weights are stored in it;
/// norms and biases, which are small and sensitive, stay in 32 bits. With input scales, the layers
/// that have them are stored as whole numbers of 8 bits.
void write_model(const std::filesystem::path& path, const ModelSpec& spec,
                 const std::vector<Weight>& weights, io::Dtype dtype = io::Dtype::kF32,
                 const std::optional<Dial>& dial = {}, const InputScales& input_scales = {});

}  // namespace sact
