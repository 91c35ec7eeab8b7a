#pragma once

#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Training options of the methods that train on the exact evidence. Each step uses all rows (or, with the
/// option evidence_rows, one block of rows), so there is no batch size, and the budget is a number of steps.
/// The default of 2,000 steps is that of the deep basis kernel paper (N): on the data set pol, 500 steps
/// reach a validation NLL of only -1.18 instead of -1.55.
struct FullBatchOptions : TrainingOptions {
  FullBatchOptions() {
    steps = 2000;
    learning_rate = 1e-2;
  }
};

template <class V>
void describe(FullBatchOptions& o, V& v) {
  v("steps", o.steps,
    "optimiser steps, each over all rows (or one block of evidence_rows); raise it if the validation score "
    "still improves at the end",
    Range{1, 1e9}, "N appendix B.1");
  v("learning_rate", o.learning_rate, "AdamW's peak rate; lower it if the loss jumps", Range{1e-8, 1},
    "slimbayes");
  v("weight_decay", o.weight_decay,
    "decoupled decay of the network's weights; raise it on small noisy tables", Range{0, 10}, "N appendix B");
  v("schedule", o.schedule, "one-cycle: linear warm-up, then a cosine to zero; constant: the papers' rate",
    Choices{{"one-cycle", "constant"}}, "experiments/recipe");
  v("warmup", o.warmup, "share of the steps in which the rate rises", Range{0, 1}, "experiments/recipe");
  v("clip_norm", o.clip_norm,
    "largest Euclidean norm of a step's gradient: longer ones are scaled down; 0: no limit", Range{0, 1e9},
    "Pascanu, Mikolov and Bengio 2013");
  v("patience", o.patience,
    "validation rounds without a better score after which the training stops (three quarters of them if the "
    "score gets worse steadily); 0: never. A round is 1/150 of the steps, at least one",
    Range{0, 1e7}, "slimbayes");
  v("time_limit", o.time_limit,
    "seconds after which the training stops and keeps the best model so far; a fit of several parts "
    "(members, combinations of `.tune`, noise folds) divides them; 0: no limit",
    Range{0, 1e9}, "slimbayes");
}

/// Returns the training options of --preset paper, from the deep basis kernel paper (N appendix B.1): 2,000
/// full-batch steps, constant learning rate 1e-3, weight decay 1e-2, no early stopping.
inline nlohmann::json paper_full_batch() {
  return {{"steps", 2000},
          {"learning_rate", 1e-3},
          {"weight_decay", 1e-2},
          {"schedule", "constant"},
          {"patience", 0}};
}

/// Returns Preset::notes of the exact methods of the deep basis kernel paper, `own` first.
inline std::vector<std::string> paper_full_batch_notes(std::vector<std::string> own) {
  own.emplace_back(
      "data: curves of one input, with 1,000 validation and 1,000 test rows, no tables; give "
      "`.noise_folds=0`, without which five folds may raise the noise of 2,000 rows or fewer");
  own.emplace_back("epoch kept: the best by validation NLL; here of 150 validations, one each 13 steps");
  return own;
}

}  // namespace slimbayes
