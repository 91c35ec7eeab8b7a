#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// What computes the passes of a network. `engine` stands for the engine (engine/plan.h) where that knows
/// every layer, else libtorch.
enum class Execution : uint8_t { engine, libtorch };

/// Training options of the methods that train on mini-batches. The defaults were chosen by the study in
/// experiments/recipe.
struct TrainingOptions {
  int64_t steps = 20000;
  int64_t epochs = 0;
  int64_t batch = 0;
  double learning_rate = 3e-3;
  double weight_decay = 1e-2;
  double beta2 = 0.999;
  std::string schedule = "one-cycle";
  double warmup = 0.1;
  double clip_norm = 0;
  int64_t patience = 40;
  std::string select_by = "score";
  int64_t sync_every = 1;
  double time_limit = 0;
};

template <class V>
void describe(TrainingOptions& o, V& v) {
  v("steps", o.steps,
    "optimiser steps, rounded to whole epochs (at least one); raise it if the validation score still "
    "improves at the end",
    Range{1, 1e9}, "experiments/recipe");
  v("epochs", o.epochs, "passes over the training rows; 0: as many as steps gives", Range{0, 1e7},
    "N appendix B.2");
  v("batch", o.batch,
    "rows per step; 0: about a tenth of the training rows, at least 32 and at most 256; in segmentation 8 "
    "images",
    Range{0, 1e7}, "experiments/recipe");
  v("learning_rate", o.learning_rate, "AdamW's peak rate; lower it if the loss jumps", Range{1e-8, 1},
    "experiments/recipe");
  v("weight_decay", o.weight_decay,
    "decoupled decay of the network's weights (dnn: of all); raise it on small noisy tables", Range{0, 10},
    "N appendix B");
  v("beta2", o.beta2,
    "share that AdamW keeps of the mean of the squared gradients at each step; lower it where few steps are "
    "to reach far",
    Range{0, 0.999999}, "Loshchilov and Hutter 2019");
  v("schedule", o.schedule,
    "one-cycle: linear warm-up, then a cosine to zero; cosine: without the warm-up; constant: the papers' "
    "rate; plateau: half the rate after more than five validations without a better score; step: a tenth of "
    "the rate in the second half of the epochs asked for; cosine-log: four cycles from zero to the rate and "
    "back, each about twice as long as the one before",
    Choices{{"one-cycle", "cosine", "constant", "plateau", "step", "cosine-log"}},
    "experiments/recipe; FiD-GP table 7 (step); Holzmueller et al. 2024 (cosine-log)");
  v("warmup", o.warmup, "share of the steps in which the rate of one-cycle rises", Range{0, 1},
    "experiments/recipe");
  v("clip_norm", o.clip_norm,
    "largest Euclidean norm of a step's gradient: longer ones are scaled down; set it if the loss of an lstm "
    "or transformer jumps; 0: no limit",
    Range{0, 1e9}, "Pascanu, Mikolov and Bengio 2013");
  v("patience", o.patience,
    "validation rounds without a better score after which the training stops (three quarters of them if the "
    "score gets worse steadily); 0: never. A round is one epoch, or several on a small table",
    Range{0, 1e7}, "slimbayes");
  v("select_by", o.select_by,
    "which parameters are kept. score: those with the best validation score; last: those of the last epoch, "
    "which some experiments of papers report",
    Choices{{"score", "last"}}, "Prechelt 1998 (score)");
  v("sync_every", o.sync_every,
    "under torchrun, the number of steps that every process takes by itself, each over its share of the "
    "batch, before all average their parameters; raise it where messages take most of the time "
    "(docs/machines.md); 1: one gradient of the whole batch in every step",
    Range{1, 1e6}, "Stich 2019");
  v("time_limit", o.time_limit,
    "seconds after which the training stops, with the parameters that select_by keeps of those so far; a "
    "fit of several parts (members, combinations of `.tune`, noise folds) divides them; 0: no limit",
    Range{0, 1e9}, "slimbayes");
}

/// Returns the training options of --preset paper, from the deep basis kernel paper (N appendix B.2): 400
/// epochs, batches of 1024 rows, constant learning rate 1e-3, weight decay 1e-2, no early stopping.
inline nlohmann::json paper_training() {
  return {{"epochs", 400},        {"batch", 1024},          {"learning_rate", 1e-3},
          {"weight_decay", 1e-2}, {"schedule", "constant"}, {"patience", 0}};
}

/// Returns what the tables of the deep basis kernel paper have besides options of a method (Preset::notes).
inline std::string paper_tables_note() {
  return "tables: 8:1:1 of the rows, one by one, inputs scaled to [-1, 1] by the whole table; give "
         "`.valid_fraction=0.1` `.test_fraction=0.1` `.split=random` `.scale_on=all`";
}

/// Returns Preset::notes of a method with a noise variance in the deep basis kernel paper, `own` first.
inline std::vector<std::string> paper_training_notes(std::vector<std::string> own = {}) {
  own.push_back(paper_tables_note());
  own.emplace_back(
      "the function of the noise variance that is trained: not said; here the one whose NLLs come nearest to "
      "the paper's (experiments/noise_reading)");
  return own;
}

}  // namespace slimbayes
