#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/table/changes.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Reads the table at a path: read_table() by default; the tool's reader also takes stdin.
using TableReader = std::function<Table(const std::string& path, const Reading& reading)>;

/// The source of a command's data, and the most memory that reading them may take.
struct DataSource {
  TableReader read;
  TableLimits limits = {};  // for images; `read` has its own

  /// Returns a source that reads files only.
  static DataSource files(const TableLimits& limits = {});
};

/// Reads a file of training data: a table, or images (FitOptions::format). Also resolves some of `options`:
/// in the lists of columns (ignore, categorical, time, group), entries with several comma-separated names
/// become names of the table's columns; for images, `format` becomes the format found. Rows of a table whose
/// target is missing are left out with a note, unless the rows are a time series. Throws
/// std::invalid_argument for a name that is not a column, and as read_table and read_images.
Examples read_training(const std::string& path, FitOptions& options, const DataSource& from,
                       std::vector<std::string>* notes);

/// Reads validation data with the column kinds of the training data. Validation data have few rows, which
/// need not show the kind of a column.
Examples read_validation(const std::string& path, const Examples& training, const FitOptions& options,
                         const DataSource& from, std::vector<std::string>* notes);

/// Column changes that a command applies to several files.
struct SharedChanges {
  ColumnChanges unneeded;  // changes that no file has needed so far; at first all
  int files_left;          // how many files are still to be read
};

/// Reads a file for this model. With `with_target`, rows of a table and windows without a target are left
/// out, rows with a note. `kept` names further columns of a table that will be written unchanged. `changes`
/// are applied to a table first; `kept` and all later names refer to the changed columns. Throws
/// std::invalid_argument for a change that does not fit the model or the table (data/table/changes.h), and
/// for a change that the table does not need; with `shared`, for a change that none of the files needs.
Examples read_for(const Model& model, const std::string& path, const DataSource& from, bool with_target,
                  std::vector<std::string>* notes, const std::vector<std::string>& kept = {},
                  const ColumnChanges& changes = {}, SharedChanges* shared = nullptr);

/// Returns all column names that these lists may mean, for use before the columns are known: each entry
/// itself, because a name may contain a comma, and its comma-separated parts.
std::vector<std::string> perhaps_named(const std::vector<std::string>& lists);

/// Turns the values of a command-line flag into column names, each once. A value is one column name or a
/// comma-separated list of them. Throws std::invalid_argument for a name that is not a column of `table`.
std::vector<std::string> columns_named(const std::vector<std::string>& lists, const std::string& command,
                                       const std::string& flag, const Table& table);

}  // namespace slimbayes
