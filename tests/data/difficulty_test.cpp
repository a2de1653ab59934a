// Tests that the classes cannot be had cheaply: from colours, from sizes, or linearly from pixels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/synthetic.h"

namespace sact::data {
namespace {

using Features = std::vector<float>;

struct Example {
  Features features;
  int label = 0;
};

constexpr int kSide = 32, kTraining = 1600, kHeldOut = 800;

const std::vector<SyntheticSample>& samples() {
  static const std::vector<SyntheticSample> all = [] {
    SyntheticOptions options;
    options.width = options.height = kSide;
    options.seed = 2017;
    std::vector<SyntheticSample> made;
    for (int64_t i = 0; i < kTraining + kHeldOut; ++i) made.push_back(synthetic_sample(options, i));
    return made;
  }();
  return all;
}

// Mean 0 and deviation 1 in each feature, as a fair chance for the classifiers.
void standardise(std::vector<Example>& examples) {
  for (size_t f = 0; f < examples[0].features.size(); ++f) {
    double sum = 0, squares = 0;
    for (const Example& e : examples) {
      sum += e.features[f];
      squares += double(e.features[f]) * e.features[f];
    }
    const double mean = sum / double(examples.size());
    const double deviation = std::sqrt(squares / double(examples.size()) - mean * mean) + 1e-6;
    for (Example& e : examples) e.features[f] = float((e.features[f] - mean) / deviation);
  }
}

template <typename Extract>
std::vector<Example> examples_of(Extract extract) {
  std::vector<Example> examples;
  for (const SyntheticSample& sample : samples())
    examples.push_back({extract(sample), sample.label});
  standardise(examples);
  return examples;
}

double dot(const Features& a, const Features& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

template <typename Classify>
double held_out_accuracy(const std::vector<Example>& examples, Classify classify) {
  int right = 0;
  for (size_t i = kTraining; i < examples.size(); ++i) {
    right += classify(examples[i].features) == examples[i].label;
  }
  return double(right) / double(examples.size() - kTraining);
}

double nearest_mean_accuracy(const std::vector<Example>& examples) {
  const size_t size = examples[0].features.size();
  std::vector<Features> means(kSyntheticClasses, Features(size));
  std::vector<float> counts(kSyntheticClasses);
  for (size_t i = 0; i < kTraining; ++i) {
    const size_t label = size_t(examples[i].label);
    for (size_t f = 0; f < size; ++f) means[label][f] += examples[i].features[f];
    counts[label] += 1;
  }
  for (size_t c = 0; c < means.size(); ++c) {
    for (float& value : means[c]) value /= std::max(counts[c], 1.0f);
  }
  return held_out_accuracy(examples, [&](const Features& features) {
    int best = 0;
    double best_score = -std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < means.size(); ++c) {
      const double score = dot(features, means[c]) - dot(means[c], means[c]) / 2;
      if (counts[c] > 0 && score > best_score) best = int(c), best_score = score;
    }
    return best;
  });
}

// Softmax regression by plain stochastic gradient descent.
double linear_accuracy(const std::vector<Example>& examples, int epochs, float rate) {
  const size_t size = examples[0].features.size();
  std::vector<Features> weights(kSyntheticClasses, Features(size));
  auto scores_of = [&](const Features& features) {
    std::vector<double> scores;
    for (const Features& row : weights) scores.push_back(dot(row, features));
    return scores;
  };
  for (int step = 0; step < epochs * kTraining; ++step) {
    const Example& example = examples[size_t(step % kTraining)];
    std::vector<double> scores = scores_of(example.features);
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - top);
    for (size_t c = 0; c < weights.size(); ++c) {
      const float push = rate * float((int(c) == example.label) - scores[c] / sum);
      for (size_t f = 0; f < size; ++f) weights[c][f] += push * example.features[f];
    }
  }
  return held_out_accuracy(examples, [&](const Features& features) {
    const std::vector<double> scores = scores_of(features);
    return int(std::max_element(scores.begin(), scores.end()) - scores.begin());
  });
}

Features small_pixels(const SyntheticSample& sample) {
  Features features;
  for (int y = 0; y < kSide; y += 2) {
    for (int x = 0; x < kSide; x += 2) {
      for (int c = 0; c < 3; ++c) {
        const auto& image = sample.image;
        features.push_back(float(image.pixel(x, y)[c] + image.pixel(x + 1, y)[c] +
                                 image.pixel(x, y + 1)[c] + image.pixel(x + 1, y + 1)[c]));
      }
    }
  }
  return features;
}

Features colour_statistics(const SyntheticSample& sample) {
  Features features;
  for (size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (size_t i = c; i < sample.image.rgb.size(); i += 3) {
      const double value = sample.image.rgb[i];
      sum += value, squares += value * value;
    }
    features.push_back(float(sum));
    features.push_back(float(squares));
  }
  return features;
}

Features box_geometry(const SyntheticSample& sample) {
  const float width = sample.box.x1 - sample.box.x0, height = sample.box.y1 - sample.box.y0;
  return {
      sample.box.x0 + width / 2,         sample.box.y0 + height / 2, width, height, width * height,
      std::abs(std::log(width / height))};
}

// Chance is 10 %, with a standard deviation of 1.1 % over the 800 held-out pictures.
TEST(Difficulty, LinearClassifiersOnPixelsAreNearChance) {
  const auto examples = examples_of(small_pixels);
  EXPECT_LT(linear_accuracy(examples, 4, 3e-4f), 0.16);
  EXPECT_LT(nearest_mean_accuracy(examples), 0.16);
}

TEST(Difficulty, ColoursDoNotTellTheClass) {
  const auto examples = examples_of(colour_statistics);
  EXPECT_LT(linear_accuracy(examples, 4, 1e-2f), 0.16);
  EXPECT_LT(nearest_mean_accuracy(examples), 0.16);
}

TEST(Difficulty, SizeAndPlaceHardlyTellTheClass) {
  const auto examples = examples_of(box_geometry);
  EXPECT_LT(linear_accuracy(examples, 4, 1e-2f), 0.25);
  EXPECT_LT(nearest_mean_accuracy(examples), 0.25);
}

// The bounds above mean something only if these classifiers can learn what is linear in the pixels.
TEST(Difficulty, TheSameClassifiersLearnBrightness) {
  auto examples = examples_of(small_pixels);
  for (Example& example : examples) {
    float sum = 0;
    for (float feature : example.features) sum += feature;
    example.label = sum > 0 ? 1 : 0;
  }
  EXPECT_GT(linear_accuracy(examples, 4, 3e-4f), 0.9);
  EXPECT_GT(nearest_mean_accuracy(examples), 0.9);
}

}  // namespace
}  // namespace sact::data
