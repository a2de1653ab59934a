// An adaptive network that begins as a dense one, or where an earlier run has left it.
#pragma once

#include <functional>
#include <string>

#include "model/model_file.h"
#include "train/adapt/settings.h"
#include "train/torch/network.h"

namespace sact::train {

/// Throws sact::Error unless the file holds a dense classifier.
void expect_dense_classifier(const ModelFile& file);

/// The dense network's spec with what makes it adaptive.
ModelSpec adaptive_spec(const ModelSpec& dense, const AdaptSettings& settings);
/// The other way round, but for what a dense network does not use.
ModelSpec dense_spec(ModelSpec adaptive);

/// Puts the weights of the dense network into the adaptive one's tensors; halting stays. Returns a
/// line that says so.
std::string start_from_dense(torch::OrderedDict<std::string, torch::Tensor> tensors,
                             const ModelSpec& spec, const ModelFile& dense);

/// Puts the weights of an adaptive network, which was made of a dense one of the same kind, into
/// the tensors. Returns a line that says so; throws sact::Error where it halts by another rule.
std::string start_from_adaptive(torch::OrderedDict<std::string, torch::Tensor> tensors,
                                const ModelSpec& spec, const ModelFile& adaptive);

/// Multiplies what the scores are the sigmoids of by a factor, and puts it where a position for
/// which it was 0 just halts; see HardHalting.
void make_steep(torch::OrderedDict<std::string, torch::Tensor> tensors, const ModelSpec& spec,
                double factor);

/// Sets the moving averages of the norms inside of halting scores, which no dense network has, to
/// the statistics of what they see in some batches [B, 3, H, W]. `next` gives a batch after the
/// other, and an undefined tensor at the end.
void measure_halting_norms(Network network, const std::function<torch::Tensor()>& next);

}  // namespace sact::train
