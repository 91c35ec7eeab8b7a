#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/data/examples.h"
#include "slimbayes/data/split/split.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/train/callback.h"

namespace slimbayes {

/// The fit of one of several targets: the rows in which it is known, and the request, which has the parts of
/// these rows (ResolvedFit::dealt).
struct TargetFit {
  Examples examples;
  std::optional<Examples> valid;  // separate validation data
  ResolvedFit request;
};

/// Returns the options of the fit of one of these targets: the others are no inputs.
FitOptions options_of_target(const FitOptions& options, const std::vector<std::string>& names, size_t target);

/// Returns the fit of the target with this number; `split` has the parts of the whole table (deal_targets).
/// Throws as resolve_fit, and std::invalid_argument for a method that cannot take the target's task and for
/// validation data without the target.
TargetFit target_fit(const Table& table, const JointRequest& request, const Table* valid,
                     const std::vector<std::string>& names, size_t target, const SplitRows& split);

/// Returns f(). What it throws as std::invalid_argument gets the name of the target before its message.
template <class F>
auto in_target(const std::string& name, F f) {
  try {
    return f();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("target " + foreign_text(name) + ": " + without_functions(error.what()));
  }
}

/// The callback of the fit of one target: it passes everything on, with the target's name before notes
/// and its label before stages. The time that is left is shared equally by this target and those after it.
class TargetCallback : public Callback {
 public:
  /// `targets` counts this target and those after it. `label` stands before the names of stages.
  TargetCallback(Callback& inner, std::string target, size_t targets, std::string label = "");

  void report(const Progress& progress) override;
  void stage(const std::string& name) override;
  void note(const std::string& sentence) override;
  bool stop() override;
  bool late() override;
  double seconds_left() const override;
  void follow(Stopped why) override;

 private:
  double own_seconds_left() const;
  Callback& inner_;
  std::string target_, label_;
  double share_;  // seconds of this target; infinite without a limit
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace slimbayes
