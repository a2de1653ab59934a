// Fuzz target: any text is the result of an evaluation, a table of numbers, or an Error; what is
// read can be put into a table.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "fuzz/attempt.h"
#include "model/eval_result.h"
#include "report/csv.h"
#include "results/rows.h"
#include "results/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sact::test::attempt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const sact::EvalResult result = sact::eval_result_from_json(text, "fuzz");
    const auto rows = sact::results::rows_of({{"a:b", result}, {"a:b", result}});
    for (const sact::Size at : sact::results::sizes_of(rows)) {
      sact::results::results_table(rows, at);
      sact::results::doubts(rows, at);
    }
  });
  attempt([&] {
    const sact::report::CsvColumns columns = sact::report::parse_csv(text, "fuzz");
    SACT_ASSERT(columns.names.size() == columns.values.size());
    for (const auto& values : columns.values) SACT_ASSERT(values.size() == columns.rows());
  });
  return 0;
}
