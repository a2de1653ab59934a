#include "engine/cpu/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "base/stopwatch.h"

namespace sact::engine {
namespace {

using kernels::DataType;
using kernels::Table;

std::string asked_or_set(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* environment = std::getenv("SACT_ISA");
  return environment ? environment : "";
}

/// A product that stays in the caches, of the kind that networks have most of.
class SampleProduct {
 public:
  SampleProduct(const Table& table, DataType type)
      : functions_(table.functions(type)),
        input_(size_t(kRows) * kDepth * sizeof(float)),
        bias_(kColumns),
        output_(size_t(kRows) * kColumns) {
    const std::vector<float> weights(size_t(kDepth) * kColumns, 0.5f);
    const std::vector<float> input(size_t(kRows) * kDepth, 0.25f);
    kernels::operand_type(type).rows.store(input.data(), int64_t(input.size()), input_.data());
    const kernels::PackedWeights packed = kernels::pack_weights(
        table, type, weights.data(), {1, kColumns, 0}, 1, kDepth, kColumns, arena_);
    call_.rows = kRows;
    call_.input = input_.data();
    call_.input_stride = call_.depth = kDepth;
    call_.weights = packed.data;
    call_.bias = bias_.data();
    call_.scales = packed.scales;
    call_.last_panel = packed.panels();
    call_.columns = kColumns;
    call_.output = output_.data();
    call_.output_stride = kColumns;
  }

  /// Operations a second of one run.
  double rate() {
    Stopwatch watch;
    functions_.product_to_f32(call_);
    return 2.0 * kRows * kDepth * kColumns / (watch.lap() * 1e-3);
  }

 private:
  static constexpr int kRows = 96, kDepth = 256, kColumns = 128;
  const kernels::TypedFunctions& functions_;
  Arena arena_{1 << 20};
  std::vector<std::byte> input_;
  std::vector<float> bias_, output_;
  kernels::RowProduct call_;
};

/// The best of some runs: other work on the machine slows down single ones, and the first wake the
/// units up.
double measured_rate(const Table& table, DataType type) {
  constexpr int kRuns = 24;
  SampleProduct sample(table, type);
  double best = 0;
  for (int run = 0; run < kRuns; ++run) best = std::max(best, sample.rate());
  return best;
}

/// Of the tables that do the same for a type as the fastest, the one with the fewest instructions:
/// what runs is named by it.
const Table& named_table(DataType type, std::span<const Table* const> tables) {
  const Table& fastest = *tables.back();
  const auto same = std::find_if(tables.begin(), tables.end(), [&](const Table* table) {
    return table->functions(type).product == fastest.functions(type).product &&
           table->scores == fastest.scores;
  });
  return **same;
}

}  // namespace

const Table& kernel_table(const std::string& asked) {
  return kernels::chosen_table(asked_or_set(asked));
}

KernelChoice fastest_choice(DataType type, std::span<const Table* const> tables,
                            const ProductRate& rate) {
  const Table &fastest = *tables.back(), &float32 = named_table(DataType::kFloat32, tables);
  if (type == DataType::kFloat32) return {&float32, type, "the fastest here"};
  const std::string name = kernels::name_of(type);
  if (!fastest.functions(type).native) {
    return {&named_table(type, tables), type,
            fmt::format("this processor has no instructions for {}", name)};
  }
  const double plain = rate(float32, DataType::kFloat32);
  std::string slower;
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    if (!(*table)->functions(type).native) break;
    const double found = rate(**table, type) / plain;
    if (found > 1) return {*table, type, fmt::format("{:.1f} times as fast as fp32 here", found)};
    slower = fmt::format("{} {} has {:.2f} times the speed of fp32 here, so that fp32 runs instead",
                         (*table)->name, name, found);
  }
  return {&float32, DataType::kFloat32, slower};
}

KernelChoice kernel_choice(DataType type, const std::string& asked) {
  if (const std::string isa = asked_or_set(asked); !isa.empty()) {
    return {&kernels::chosen_table(isa), type, "asked for"};
  }
  static const std::vector<KernelChoice> choices = [] {
    std::vector<KernelChoice> all;
    for (const kernels::OperandType& known : kernels::operand_types()) {
      all.push_back(fastest_choice(known.type, kernels::available_tables(), measured_rate));
    }
    return all;
  }();
  return choices[size_t(type)];
}

}  // namespace sact::engine
