#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/windows/window_table.h"
#include "slimbayes/serve/serve_file.h"

namespace slimbayes {

/// What a model of rows or texts answers of a table, and a model of windows.
using ServedInputs = std::variant<Table, WindowTable>;

/// Returns what the model answers of this table, as examples_of() (data/input_encoder.h) does without a
/// target. Throws as window_table().
ServedInputs served_inputs(const ServedEncoder& encoder, Table table);

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

/// Returns the answers to all rows, windows or texts of a table; nullopt where one has no finite answer, and
/// where a note on single ones belongs to the answers: Model::answers() and answer_notes() say more then.
/// `inputs` are those of served_inputs(). Throws as Encoder::inputs, Model::interval and served_rows().
std::optional<TableAnswers> table_answers(const ServedFile& served, const ServedInputs& inputs,
                                          const TableRequest& request);

}  // namespace slimbayes
