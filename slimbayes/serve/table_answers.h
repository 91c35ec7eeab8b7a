#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/serve/serve_file.h"

namespace slimbayes {

/// What is asked of the rows of a table.
struct TableRequest {
  std::vector<double> levels = {0.95};
  bool deterministic_sets = false;  // deterministic_set() in place of prediction_set()
  int64_t threads = 1;
};

/// The answers to the rows of a table.
struct TableAnswers {
  std::vector<Column> columns;     // as answer_table() (model/answer_table.h) gives them
  std::vector<std::string> notes;  // as answer_notes() writes them
};

/// Returns the answers to all rows of a table; nullopt where a row has no finite answer, and where a note on
/// single rows belongs to the answers: Model::answers() and answer_notes() say more then. Throws as
/// Encoder::inputs, Model::interval and served_rows().
std::optional<TableAnswers> table_answers(const ServedFile& served, const Table& table,
                                          const TableRequest& request);

}  // namespace slimbayes
