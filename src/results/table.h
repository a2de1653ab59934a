// The paper's table of results: FLOPs, units per block, accuracy and recall@5 of every row.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"
#include "report/table.h"
#include "results/rows.h"

namespace sact::results {

/// The table at one size, for people. Rows that were not evaluated at it have dashes.
report::Table results_table(const std::vector<Row>& rows, Size size);

/// "128×128, 3 791 images".
std::string table_title(const std::vector<Row>& rows, Size size);

/// What the ± in these tables mean; only what stands in them.
std::string footnote(const std::vector<Row>& rows, const std::vector<Size>& sizes);

/// All sizes in one table of plain numbers, accuracies as proportions.
report::Table numbers_table(const std::vector<Row>& rows, const std::vector<Size>& sizes);

io::Json to_json(const std::vector<Row>& rows, const std::vector<Size>& sizes);

}  // namespace sact::results
