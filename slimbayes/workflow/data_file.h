#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// How a path becomes a table. read_table() by default; the tool's also reads stdin.
using TableReader = std::function<Table(const std::string& path, const Reading& reading)>;

/// Where data come from and how much memory reading them may take.
struct DataSource {
  TableReader read;
  TableLimits limits = {};  // of images; `read` has its own

  /// Files alone.
  static DataSource files(const TableLimits& limits = {});
};

/// Reads a file to learn from: a table, or images (FitOptions::format). The lists of columns in `options`
/// (ignore, categorical, time, group), whose entries may be several names joined by commas, become names of
/// the table's columns, and `format` the one that was found. Of a table, rows without the target are left out
/// with a note, unless its rows are a series. Throws std::invalid_argument for a name that is no column, and
/// as read_table and read_images.
Examples read_training(const std::string& path, FitOptions& options, const DataSource& from,
                       std::vector<std::string>* notes);

/// Reads validation data as the training data were read: their few rows need not show what kind a column is.
Examples read_validation(const std::string& path, const Examples& training, const FitOptions& options,
                         const DataSource& from, std::vector<std::string>* notes);

/// Reads a file for this model. With `with_target`, examples whose target is not known are left out with a
/// note. `kept`: more columns of a table, which are written again as they are.
Examples read_for(const Model& model, const std::string& path, const DataSource& from, bool with_target,
                  std::vector<std::string>* notes, const std::vector<std::string>& kept = {});

/// What a list of columns may name before the columns are known: itself, since a name may hold a comma, or
/// its parts.
std::vector<std::string> perhaps_named(const std::vector<std::string>& lists);

/// Turns the values of a command-line flag into column names, each once. A value is one column name or a
/// comma-separated list of them. Throws std::invalid_argument for a name that is not a column of `table`.
std::vector<std::string> columns_named(const std::vector<std::string>& lists, const std::string& command,
                                       const std::string& flag, const Table& table);

}  // namespace slimbayes
