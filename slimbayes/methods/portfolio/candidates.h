#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/methods/portfolio/auto_options.h"

namespace slimbayes {

/// A method that `auto` tries, with its options and what it learns of the target.
struct Candidate {
  std::string method;
  nlohmann::json options;  // all of them
  TargetWarp warp = TargetWarp::none;
  /// Fits with other seeds where one set of validation rows scores the candidate. In folds each fold is a
  /// fit.
  int64_t copies = 1;
  std::string network = {};  // PortfolioEntry::network

  /// Returns the name in notes, such as "dbk", "dbk of log y" or "bll (realmlp)".
  std::string label() const;
  /// Whether the method learns all rows and has no use for validation rows. Such a candidate is fitted once
  /// more to all rows after the folds have scored it.
  bool learns_all() const;
};

/// Returns the candidates for these rows, in the order in which they are tried: the
/// cheap and robust ones first. With AutoOptions::log_target "auto" and a positive target, every regression
/// method stands in the list twice. `passed_on` are options for the candidates that have them. Throws
/// std::invalid_argument if no candidate takes these rows, or if none has one of these options.
std::vector<Candidate> candidates_for(const AutoOptions& options, const nlohmann::json& passed_on,
                                      const Dataset& rows);

/// Returns the methods with their options.
std::vector<MethodChoice> choices_of(const std::vector<Candidate>& candidates);

/// Returns the seconds that a fit to n rows may take: options.time_limit or, if that is 0, 60 for up to 1,000
/// rows, then growing with n^0.59 to 600 for 50,000.
double seconds_for(const AutoOptions& options, int64_t n);

}  // namespace slimbayes
