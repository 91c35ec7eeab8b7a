#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/export.h"

namespace slimbayes {

// What a user says beside the options of a fit and of a method. The bounds stand here alone: the tool, Python
// and the functions of the library that take such a value check it with these descriptions.

/// The largest level of an interval. From 1 - 1e-16 on, (1 + level) / 2 rounds to 1, which has no quantile.
inline constexpr double kMostLevel = 1 - 1e-12;

/// How any call is run: the fields of FitOptions that are no part of the recipe of a fit, and the time
/// between two checkpoints.
struct RunOptions {
  uint64_t seed = 0;
  double level = 0.95;
  int threads = kThreadsOfMethod;
  double checkpoint_every = 2;
  std::string device = "cpu";
};

inline constexpr const char* kDeviceHelp =
    "where networks are computed. cpu: on the processor; cuda: on the first NVIDIA GPU; cuda:1: on the "
    "second "
    "one; auto: on a GPU if there is one, else on the processor. A model of one opens on the other";

template <class V>
void describe(RunOptions& o, V& v) {
  v("seed", o.seed, "seed of the initial weights and the batches", Range{0, 18446744073709551616.0}, "");
  v("level", o.level, "coverage of the intervals", Range{0, kMostLevel, /*without_low=*/true}, "");
  v("threads", o.threads, "number of threads; 0: as many as the process uses. By default the method chooses",
    Range{0, 4096}, "");
  v("checkpoint_every", o.checkpoint_every, "seconds between two checkpoints; 0: one after every step",
    Range{0, 1e9, false, /*without_high=*/true}, "");
  v("device", o.device, kDeviceHelp, ValueName{"DEVICE"}, "");
}

/// Returns those of these options that a fit has.
inline RunOptions run_options(const FitOptions& fit) {
  return {.seed = fit.seed, .level = fit.level, .threads = fit.threads, .device = fit.device};
}

/// Throws std::invalid_argument unless the level is one of RunOptions. The message names `function`.
SLIMBAYES_EXPORT void check_level(double level, std::string_view function);

/// How often a comparison fits each method.
struct ComparisonPlan {
  int seeds = 5;    // fits of a method on each split; a deterministic method is fitted once
  int repeats = 1;  // random splits, with the seeds FitOptions::split_seed, split_seed + 1, ...
  int folds = 0;    // above 0: folds of a cross-validation in the place of random test parts; 1 repeat
};

template <class V>
void describe(ComparisonPlan& o, V& v) {
  v("seeds", o.seeds, "fits of a method on each split", Range{1, 1000}, "");
  v("repeats", o.repeats, "random splits", Range{1, 1000}, "");
  v("folds", o.folds, "folds of a cross-validation in the place of random splits", Range{2, 1000}, "");
}

/// What a user asks of a PAC-Bayes bound.
struct CertificateOptions {
  double delta = 0.05;  // probability with which the bound may fail
  int64_t draws = 100;  // networks drawn from the posterior
  int64_t tried = 1;    // priors (ranks, sizes, sds) that were tried
  /// Regression and counts: the loss is min(1, |y - prediction| / clip), in the target's units. 0: not given.
  double clip = 0;
};

template <class V>
void describe(CertificateOptions& o, V& v) {
  v("delta", o.delta, "probability with which the bound may fail", Range{0, 1, true, true}, "");
  v("draws", o.draws, "networks drawn from the posterior", Range{1, 1e6}, "");
  v("tried", o.tried, "priors that were tried", Range{1, 1e9}, "");
  v("clip", o.clip, "the absolute error that counts as a full failure", Range{0, 1e300, true, true}, "");
}

/// What a user asks of the advice on ranks and of the other bounds.
struct RankOptions {
  double energy = 0.9;  // share of the sum of squared singular values to keep
  int64_t rank = 1;     // of a truncation
  double c0 = 1;        // constant of the Gaussian complexity
};

template <class V>
void describe(RankOptions& o, V& v) {
  v("energy", o.energy, "share of the sum of squared singular values to keep", Range{0, 1, true, true}, "");
  v("rank", o.rank, "rank of a truncation", Range{1, 1 << 24}, "");
  v("c0", o.c0, "constant of the Gaussian complexity", Range{0, 1e9, true, true}, "");
}

/// How the importance of columns is computed.
struct PermutationPlan {
  int64_t repeats = 5;  // permutations of each column or group
  int64_t rows = 2000;  // rows to permute
};

template <class V>
void describe(PermutationPlan& o, V& v) {
  v("repeats", o.repeats, "permutations of each column", Range{1, 1000}, "");
  v("rows", o.rows, "rows to permute, evenly spaced", Range{10, 1e9}, "");
}

/// What a user asks of synthetic data.
struct GenerateOptions {
  int64_t rows = 2000;
  double amplitude = 0.4;
};

template <class V>
void describe(GenerateOptions& o, V& v) {
  v("rows", o.rows, "number of rows, of events their expected number", Range{1, 1e8}, "");
  v("amplitude", o.amplitude, "amplitude of the noise", Range{0, 1e6, false, /*without_high=*/true}, "");
}

/// Which weights become those of a network without random ones.
struct ExportOptions {
  int64_t draw = 0;  // from 1; 0: the centre
};

template <class V>
void describe(ExportOptions& o, V& v) {
  v("draw", o.draw, "draw of the weights, from 1; 0: their centre", Range{0, 1e6}, "");
}

}  // namespace slimbayes
