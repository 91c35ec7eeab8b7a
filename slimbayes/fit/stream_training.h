#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Files of training rows that are read piece by piece.
struct StreamedFiles {
  std::vector<std::filesystem::path> files;  // as those of read_tables
  std::string source;                        // name of the whole, for messages
  TableLimits limits = {};                   // of a piece, and of the rows that stay in memory
  CacheOptions cache;
  bool own_valid = false;             // whether there are validation data of their own
  const Collective* ranks = nullptr;  // who reads a share of the rows each; not owned; nullptr: this process
};

/// Reads the files of a fit once, for a table that need not fit into memory, and completes `options` as
/// read_training does. The examples of the fit are then StreamedTable::rows of the result. Throws
/// std::invalid_argument for options that need all rows at once (windows, text, images, events, scale_on
/// "all", folds, a network of another fit), as check_streams where the options tell the method, and as
/// read_training. With ranks all of them call this, and each reads a share of the rows, if the files can be
/// shared; rank 0 throws for all (together()).
std::shared_ptr<const StreamedRows> stream_training(const StreamedFiles& given, FitOptions& options,
                                                    const StreamedRows::Progress& progress = {});

/// Throws std::invalid_argument if the method of a streamed fit needs all its training rows at once. The
/// message says about how many of them the memory at hand would hold.
void check_streams(const ResolvedFit& request);

}  // namespace slimbayes
