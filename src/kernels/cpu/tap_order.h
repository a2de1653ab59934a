// In which order the taps of a product are taken.
#pragma once

#include "kernels/cpu/calls.h"
#include "kernels/cpu/elements.h"

namespace sact::kernels {

/// How a product of several taps is done. Taps in registers: the sums of a tile stay in registers
/// over all taps. Taps in memory: one tap after the other is added to sums in memory, for the rows
/// only that have a neighbour there, so that nothing is multiplied with the border's zeros; the
/// deeper a tap, the less the trips to memory cost. Over tiles (winograd.h) there are no taps.
enum class TapOrder { kRegisters, kMemory, kTilesOfTwo, kTilesOfFour };
const char* name_of(TapOrder order);
struct TapChoice {
  TapOrder order = TapOrder::kRegisters;
  const char* why = "";
};
TapChoice tap_choice(const RowProduct& product, DataType type);
inline TapOrder tap_order(const RowProduct& product, DataType type) {
  return tap_choice(product, type).order;
}
/// What products on tiles do, whose sums stay in registers over all taps.
inline constexpr TapChoice kTapsInTiles = {TapOrder::kRegisters, "tiles"};
/// What a product of one tap gets, whatever else it is.
inline constexpr TapChoice kOneTap = {TapOrder::kRegisters, "one tap"};

}  // namespace sact::kernels
