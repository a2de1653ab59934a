// Times of a network: dense, with active sets of given density, on images, and beside others.
//
// On a machine that does other work too, times of different minutes cannot be compared. So
// everything that shall be compared takes turns: in every round each candidate runs once, and only
// medians of the same rounds make a ratio.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace sact::measure {

struct Times {
  std::vector<double> ms;

  /// The value below which this share of all times lies, 0 to 1.
  double quantile(double share) const;
  double median() const { return quantile(0.5); }
  double sum() const;
};

struct Candidate {
  std::string name;
  std::function<double()> run;  // returns milliseconds
  Times times = {};
};

struct Rounds {
  int warm_up = 2, count = 15;
  double pause_ms = 0;  // before every run: others may leave threads that still spin
  std::function<void(int round)> progress = {};
  std::function<bool()> interrupted = {};
};

/// Lets the candidates take turns.
void take_turns(std::vector<Candidate>& candidates, const Rounds& rounds);

/// Milliseconds that a call takes.
double milliseconds(const std::function<void()>& call);

/// The same weights as a plain network, and as an adaptive one: what a model lacks for that is
/// filled with fresh halting parameters. Of a detector, the extractor. The model must outlive them.
NetworkSource dense_network(const ModelFile& model);
NetworkSource adaptive_network(const ModelFile& model);

}  // namespace sact::measure
