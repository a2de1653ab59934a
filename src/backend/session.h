// Running a network, or a detector, that a back end has loaded. A session has buffers of its own
// and belongs to one thread of its user at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/input_view.h"
#include "halting/control.h"
#include "model/result.h"
#include "sact/box.h"

namespace sact {

/// "9 x 64 to 64": taps, depth of each, columns; of one tap "64 to 64".
std::string product_text(int taps, int depth, int columns);

/// What one layer took in a run, for measuring.
struct LayerTime {
  std::string name;
  int64_t rows = 0;
  int taps = 1, depth = 0, columns = 0;  // of the product
  std::string tap_order;                 // "memory" or "registers"
  int row_parts = 1, column_parts = 1;   // how the work was shared
  double seconds = 0;                    // of one of those who shared it
  // Of a device of its own: the fewest bytes that have to be moved, and what the device reached at
  // best just before; 0: not known.
  double bytes = 0, bytes_per_second = 0, operations_per_second = 0;

  /// What memory and products take at those rates, the longer of the two; 0: not known.
  double ceiling_seconds() const;
  double operations() const { return 2.0 * double(rows) * taps * depth * columns; }
  std::string product() const { return product_text(taps, depth, columns); }
};

/// Sees what the products of a network read.
class OperandObserver {
 public:
  virtual ~OperandObserver() = default;
  /// Rows that a layer is about to multiply, of `depth` numbers each. Several threads may call.
  virtual void see(const std::string& layer, std::span<const float* const> rows, int depth) = 0;
};

class NetworkSession {
 public:
  virtual ~NetworkSession() = default;

  /// Throws sact::Error when a run on so many images, with the input that is still to be made,
  /// needs memory that is not there. Runs ask themselves too, but their input has cost its time by
  /// then.
  virtual void expect_memory(int /*count*/, Size /*size*/) const {}

  virtual std::vector<ImageResult> run(const InputView& input) = 0;
  /// The same for planes of `count` images.
  std::vector<ImageResult> run(std::span<const float> planes, int count, Size size) {
    return run(planes_view(planes, count, size));
  }
  /// Memory for so many values of an input that a device of its own reads where they lie; what was
  /// given before is no more. Empty: there is none, and any other does as well.
  virtual std::span<float> input_memory(int64_t /*values*/) { return {}; }

  /// How halting is run from now on. Only where the back end says that it can be steered.
  virtual void set_halting(const HaltingControl& halting);
  /// From now on asked after every residual unit, by the thread that called run(): true ends the
  /// run with sact::Interrupted, and what it throws comes out of the run. Empty: no more. Only
  /// where the back end can be steered.
  virtual void set_interruption(std::function<bool()> interrupted);

  /// For measuring: from now on positions get these numbers of units, [block][row of the batch],
  /// whatever their scores say; the scores are worked out all the same. Empty: no more. Only where
  /// the back end says that it prescribes units.
  virtual void prescribe_units(std::vector<std::vector<int32_t>> units);
  /// From now on all runs show what layers read; null: no more. Only where the back end says that
  /// it prescribes units, and in 32 bits.
  virtual void observe(OperandObserver* observer);
  /// For measuring: milliseconds that a run takes. On a device of its own those between its start
  /// and its end there, without transfers.
  virtual double time_run(const InputView& input);
  /// For measuring: runs, and tells what each layer took. Only where the back end says that it
  /// times layers.
  virtual std::vector<LayerTime> time_layers(const InputView& input);
};

/// What a detector says whose features or outputs are not finite: sact::Error.
[[noreturn]] void fail_not_finite();

/// What a detector says of the anchors of one image.
struct AnchorOutputs {
  std::vector<float> scores;  // [positions, anchors]
  std::vector<float> codes;   // [positions, anchors, 4]
};

/// What it says of boxes.
struct BoxOutputs {
  std::vector<float> outputs;     // [boxes, 1 + 5 * classes]: what the head gives
  std::vector<BlockResult> maps;  // of the last block, for each box
  int64_t flops = 0;              // of all boxes
  double crop_ms = 0, network_ms = 0;
};

/// The three parts of a detector, one image at a time. The features that extract() computes stay
/// where the back end has them; the other two read them there.
class DetectorSession {
 public:
  virtual ~DetectorSession() = default;

  /// As NetworkSession's, for one image that is scaled to this size.
  virtual void expect_memory(Size /*scaled*/) const {}

  /// As NetworkSession's.
  virtual void set_halting(const HaltingControl& halting) = 0;
  virtual void set_interruption(std::function<bool()> interrupted) = 0;

  /// Everything but the last block, on one image. sact::Error when the features are not finite.
  virtual ImageResult extract(const InputView& image) = 0;
  virtual AnchorOutputs score_anchors() = 0;
  /// The last block and the head on what the features have inside the boxes, which are in pixels of
  /// that image. sact::Error when the outputs are not finite.
  virtual BoxOutputs classify(std::span<const Box> boxes) = 0;
};

}  // namespace sact
