#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/table/changes.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// A function that reads the table at a path. DataSource::files() gives read_table(); the command-line tool
/// has its own reader, which also reads standard input (path "-").
using TableReader = std::function<Table(const std::string& path, const Reading& reading)>;

/// How a command reads its data, and how much memory that may take.
struct DataSource {
  TableReader read;
  TableLimits limits = {};  // for images; `read` applies its own to tables

  /// Returns a source that reads files, but not standard input. `limits` apply to tables and images.
  static DataSource files(const TableLimits& limits = {});
};

/// Returns how read_table should read a table for a fit with these options.
Reading training_reading(const FitOptions& options);

/// Replaces each entry in the options' lists of columns (ignore, categorical, time, group) that is a
/// comma-separated list by the columns that it names. Throws std::invalid_argument for a name that is not a
/// column.
void name_columns(FitOptions& options, const Table& table);

/// Reads a file of training data: a table, or images (FitOptions::format). Also completes `options`: its
/// lists of columns as name_columns() does. For images, `format` becomes the format that was found. Rows of a
/// table without a target are left out, and `notes` (may be nullptr) receives a sentence on them; rows of a
/// time series stay, because windows see them. A time series is returned as its windows. Of several targets
/// (targets_of) rows without any are left out, and the table is returned for fit_joint to check. Throws
/// std::invalid_argument for a name that is not a column, and as read_table, read_images and examples_of
/// (data/fit_examples.h).
Examples read_training(const std::string& path, FitOptions& options, const DataSource& from,
                       std::vector<std::string>* notes);

/// Reads a file of validation data. `training` are the examples from read_training, windows for a time
/// series. Each column is read as the kind (numeric, categorical, ...) that it has in `training`, because a
/// file with few rows may suggest another kind. Rows of a table without a target are left out, and `notes`
/// (may be nullptr) receives a sentence on them, unless the rows are a time series.
Examples read_validation(const std::string& path, const Examples& training, const FitOptions& options,
                         const DataSource& from, std::vector<std::string>* notes);

/// The progress of a command that applies the same column changes to several files. Give one object to
/// read_for() for each file. read_for() throws at the last file if some change was needed by no file.
struct SharedChanges {
  ColumnChanges unneeded;  // changes that no file has needed so far; at first all
  int files_left;          // how many files are still to be read
};

/// Reads a file of rows, windows or images for this model and returns the examples. With `with_target`, rows
/// and windows without a target are left out; `notes` (may be nullptr) receives a sentence on such rows.
/// `kept` names further columns of a table that will be written unchanged. `changes` renames and fills
/// columns of a table before anything else, so `kept` refers to the new names. Throws std::invalid_argument
/// for a change that does not fit the model or the table (data/table/changes.h), and for a change that the
/// table does not need; with `shared`, only for a change that none of the command's files needs.
Examples read_for(const Model& model, const std::string& path, const DataSource& from, bool with_target,
                  std::vector<std::string>* notes, const std::vector<std::string>& kept = {},
                  const ColumnChanges& changes = {}, SharedChanges* shared = nullptr);

/// Reads a file of rows for a model of several targets. With `with_targets`, rows without any target are left
/// out; `notes` (may be nullptr) receives a sentence on them. `kept` as above.
Table read_for(const JointModel& model, const std::string& path, const DataSource& from, bool with_targets,
               std::vector<std::string>* notes, const std::vector<std::string>& kept = {});

/// Returns the examples in a table that was read as Model::reading(with_target) says. With `with_target`,
/// rows and windows without a target are left out; `notes` (may be nullptr) receives a sentence on such rows.
Examples examples_for(const Model& model, Table table, bool with_target, std::vector<std::string>* notes);

/// Returns all column names that the entries of `lists` may mean. Use it before the columns of the table are
/// known. An entry may be one name that contains commas or a comma-separated list of names, so the result
/// holds both the entry itself and its parts.
std::vector<std::string> perhaps_named(const std::vector<std::string>& lists);

/// Returns the column names in the values of a command-line flag, each once. A value is one column name or a
/// comma-separated list of names. Throws std::invalid_argument for a name that is not a column of `table`;
/// the message names `command` and `flag`.
std::vector<std::string> columns_named(const std::vector<std::string>& lists, const std::string& command,
                                       const std::string& flag, const Table& table);

}  // namespace slimbayes
