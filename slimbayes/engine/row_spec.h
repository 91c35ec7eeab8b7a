#pragma once

#include <limits>
#include <memory>
#include <variant>
#include <vector>

#include "slimbayes/density/row_mixture.h"
#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/engine/kernel_rows.h"
#include "slimbayes/engine/linear_head.h"

namespace slimbayes::engine {

struct RowSpec;

/// A linear head on features.
struct LinearRows {
  FeatureSpec features = {};
  LinearHead head = {};
};

/// A member of a candidate sees the inputs, and answers for the target, through this view; MemberView of
/// methods/portfolio explains the fields.
struct ViewSpec {
  std::vector<double> input_shift = {}, input_scale = {};  // [d]; empty: the inputs as they are
  TargetWarp warp = TargetWarp::none;
  double low = 0, unit = 1, log_mean = 0, log_sd = 1, seen_low = 0, seen_high = 0, spare_sd = 1;
};

/// The corrections of a candidate's spread; Tempering and RowScale of methods/portfolio explain the fields.
struct SpreadSpec {
  bool of_folds = false;
  double factor = 1, dof = std::numeric_limits<double>::infinity();
  double wild_share = 0, wild_factor = 1;
  std::vector<double> centre = {}, spread = {}, weights = {};  // [d + 1]; empty: the factor of a row is 1
  double low = 0, high = 0, seen_epistemic = std::numeric_limits<double>::infinity();
};

/// A candidate of `auto`: members that answer in one view, pooled.
struct CandidateRows {
  std::vector<RowSpec> members;
  ViewSpec view = {};
  SpreadSpec spread = {};
  double weight = 0;  // in the mixture
};

/// The mixture of the candidates. With the probability `wrong_share` a target is wrong, and has a Student-t
/// distribution with `wrong_dof` degrees of freedom and `wrong_factor` times the variances of the mixture.
struct MixtureRows {
  int64_t inputs = 0;  // d
  std::vector<CandidateRows> candidates;
  double wrong_share = 0, wrong_dof = 3, wrong_factor = 1;
};

/// Members that answer with equal shares, as one Gaussian with the moments of their mixture (`ensemble`).
struct EnsembleRows {
  std::vector<RowSpec> members;
};

/// A fitted regression as data: all that the answer to a row follows from. It is what a model file keeps for
/// serving (row_spec_file.h), and what a method makes its RowModel of.
struct RowSpec {
  std::variant<LinearRows, KernelRows, MixtureRows, EnsembleRows> of = {};
};

/// Returns the row model of this regression; nullptr where the engine does not know a network, or where a
/// member of a mixture has a density of its own. Throws std::invalid_argument for parts that do not fit each
/// other, which those of a damaged file may not.
std::shared_ptr<const RowModel> row_model(const RowSpec& spec);

/// Return the row model of a mixture, and of an ensemble; else as row_model().
std::shared_ptr<const RowModel> mixture_row_model(const MixtureRows& spec);
std::shared_ptr<const RowModel> ensemble_row_model(const EnsembleRows& spec);

}  // namespace slimbayes::engine
