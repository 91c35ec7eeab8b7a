#include "slimbayes/methods/weight_space/preset_options.h"

#include <utility>

namespace slimbayes {

namespace {

using nlohmann::json;

/// What the experiments of the paper have in common. The prior sds are 1 and e^-6; the other reading of the
/// text, the variances 1 and e^-6, is narrow_prior_sd 0.0498. The curve's text states variances: 2^2 and
/// e^-6.
json common() {
  return {{"batch", 64},
          {"learning_rate", 1e-3},
          {"schedule", "constant"},
          {"patience", 0},
          {"prior", "mixture"},
          {"weight_prior_sd", 1.0},
          {"narrow_prior_sd", 0.0024787521766663585},
          {"start_sd", 0.011}};
}

/// Epochs in which the weight of the KL term rises. The paper states 20 for MNIST and calls such a rise
/// crucial in all experiments (H.1), without its length for the clinical and the Beijing data.
constexpr int64_t kRamp = 20;

/// One experiment: its settings, those of the methods with factors, and Preset::notes.
struct Experiment {
  std::string name;
  json options, factors;
  std::vector<std::string> notes;
};

constexpr const char* kPriorNote =
    "prior: e^-6 is an sd in appendix I.1 and a variance by section 2.1; here it is the sd. The variance is "
    "`.narrow_prior_sd=0.0498`";
constexpr const char* kRampNote =
    "KL annealing: \"crucial\" in all experiments (H.1), its length is said for images alone; here 20 epochs "
    "as there";
constexpr const char* kStartNote =
    "start of the weights: He or Glorot, in recurrent matrices orthogonal; here uniform within 1 / "
    "sqrt(inputs). "
    "full-rank starts as in the paper";

std::vector<Experiment> experiments_on_rows_and_windows() {
  return {
      {"paper-clinical",
       {{"network", "mlp"},
        {"activation", "relu"},
        {"hidden", 128},
        {"blocks", 2},
        {"epochs", 256},
        {"class_weights", "balanced"},
        {"beta", 32.0},
        {"kl_ramp", kRamp},
        {"draws", 512}},
       {{"rank", 15}, {"damping", 0.55}, {"start_share", 0.1}},
       {"data: 44 columns of MIMIC-III, medians for missing cells, scaled to [0, 1]; here means for missing "
        "cells, scaled to [-1, 1]",
        "class weights: 1 and 11.88; here by the shares of the classes, 1 on average, so that the KL counts "
        "for more",
        "epoch kept: the last, without validation rows; here the best by validation NLL. `.select_by=last` "
        "keeps the last",
        "damping: 0.32 for ranks up to 5; give `.damping=0.32` with them",
        "deterministic networks: 32 epochs", kRampNote, kStartNote, kPriorNote}},
      {"paper-beijing",
       {{"network", "lstm"},
        {"hidden", 64},
        {"blocks", 2},
        {"final_norm", false},
        {"lstm_biases", "one"},
        {"epochs", 150},
        {"schedule", "plateau"},
        {"patience", 30},
        {"beta", 0.09},
        {"kl_ramp", kRamp},
        {"start_sd", 0.079},
        {"draws", 150}},
       {{"layer_ranks", json::array({"14", "20", "1"})}, {"damping", 0.55}, {"start_share", 0.1}},
       {"data: windows of 24 hours of 15 columns, inputs and target standardised; give `.window=24` "
        "`.scale=standard`",
        "ranks 14 and 20: of the two layers by section 4.3, of inputs and states by H.3; here of the layers",
        "early stopping: by the validation MAE; here by the validation NLL. Ensembles: patience 10",
        "plateau: half the rate, at least 1e-6; here without a least rate", kRampNote, kStartNote,
        kPriorNote}},
      {"paper-toy",
       {{"network", "mlp"},
        {"activation", "tanh"},
        {"hidden", 100},
        {"blocks", 2},
        {"batch", 128},
        {"epochs", 800},
        {"learning_rate", 5e-4},
        {"weight_prior_sd", 2.0},
        {"narrow_prior_sd", 0.049787068367863944},
        {"beta", 1e-4},
        {"kl_ramp", 760},
        {"noise_start", 4e-4},
        {"noise_floor", 1e-4},
        {"noise_rate", 1e-8},
        {"draws", 200}},
       {{"rank", 16}, {"factored", "smaller"}, {"start_share", 0.1}},
       {"noise: held at an sd of 0.02 in the target's units; give `.target_scale=centred`, with which the "
        "options "
        "of the noise are in them",
        "scale of the input, start of the weights, epoch kept: not said; here to [-1, 1], as the method "
        "starts, and "
        "the best by validation NLL after the annealing",
        "draws: 100 for the widths of the bands; here 200 for all"}}};
}

std::vector<Experiment> experiments_on_text_and_images() {
  return {{"paper-sst2",
           {{"network", "transformer"},
            {"hidden", 256},
            {"blocks", 4},
            {"heads", 4},
            {"feedforward", 512},
            {"positions", false},
            {"final_norm", false},
            {"epochs", 20},
            {"learning_rate", 2e-4},
            {"schedule", "cosine"},
            {"patience", 5},
            {"beta", 0.064},
            {"kl_zero", 2},
            {"kl_ramp", 2},
            {"draws", 200}},
           {{"rank", 16}, {"clip_rank", false}, {"damping", 0.85}, {"start_share", 0.1}},
           {"data: word pieces of BERT, at most 64 a text; here words. Give `.longest=64`",
            "the text is read at its first token (CLS); here at the mean of its words",
            "positions: not said; here none, as the paper's number of parameters has it",
            "ranks: 16 (section 4.4), of the words 10 (Table 8), which the number of parameters excludes; "
            "here 16",
            "rate: a cosine to 1 % of it, halved after 3 epochs without a better loss; here a cosine to 0",
            "start of the weights: Glorot, words uniform, rank-1's factors within 0.2 of 0; here uniform "
            "within 1 / "
            "sqrt(inputs), words normal, rank-1's factors 1. full-rank starts as in the paper",
            "prior: not said for text; here that of the images",
            "validation rows of the early stopping: not said"}},
          {"paper-mnist",
           {{"network", "mlp"},
            {"activation", "relu"},
            {"hidden", 1200},
            {"blocks", 2},
            {"batch", 128},
            {"epochs", 50},
            {"beta", 1.0},
            {"kl_ramp", kRamp},
            {"random_biases", false},
            {"draws", 50}},
           {{"rank", 25}, {"damping", 0.55}, {"start_share", 0.1}},
           {"pixels: divided by 126; give `.pixel_divisor=126`, without which they are standardised",
            "data: 50,000 images to train and 10,000 to validate; give `.valid_fraction=0.1666`",
            "start of the weights: not said for images; here as for the clinical data: full-rank within 0.2 of 0, "
            "factors times 0.55",
            "epoch kept: not said; here the best by validation NLL after the annealing. `.select_by=last` "
            "keeps the "
            "last"}}};
}

}  // namespace

Preset inducing_preset() {
  return {
      "paper",
      {{"inducing_rows", 128},
       {"inducing_columns", 128},
       {"output_columns", 128},
       {"flow", "paper"},
       {"flow_layers", "convolutions"},
       {"noisy_z", true},
       {"epochs", 200},
       {"batch", 100},
       {"learning_rate", 1e-3},
       {"schedule", "step"},
       {"patience", 0}},
      {"data: images of 32 x 32, shifted and mirrored, labels smoothed; give `.network=resnet18` `.crop=4` "
       "`.flip=true` `.label_smoothing=0.05`",
       "optimiser: Adam or SGD with momentum 0.9; here Adam",
       "flow: every matrix divided by its spectral norm (equation 8); here where the norm is above 1, so "
       "that the "
       "flow starts at the identity. `.flow=spectral` divides always",
       "KL annealing: its length is not said; here 100 epochs without the KL, then 50 to all of it",
       "for equation 19: noise of at most 0.01 with a penalty, spectral norms of the linear layers, an "
       "orthogonal "
       "start; here none of these. `.most_noise=0.01` sets the limit",
       "epoch kept: not said; here the best by validation NLL after the annealing"}};
}

std::vector<Preset> paper_presets(PresetOptions has) {
  std::vector<Experiment> all = experiments_on_rows_and_windows();
  for (Experiment& one : experiments_on_text_and_images()) all.push_back(std::move(one));
  std::vector<Preset> presets;
  for (const Experiment& experiment : all) {
    json options = common();
    options.update(experiment.options);
    if (has == PresetOptions::low_rank || has == PresetOptions::low_rank_svd) {
      options.update({{"factored", "all"}, {"match_prior", false}});
      options.update(experiment.factors);
    }
    if (has == PresetOptions::low_rank_svd) options.erase("damping");  // acts on random starts alone
    if (has == PresetOptions::full_rank) options["start"] = "uniform";
    if (has == PresetOptions::rank_one) {
      options.erase("random_biases");
      options["scales"] = experiment.name == "paper-mnist" ? "about-zero" : "about-one";
    }
    presets.push_back({experiment.name, std::move(options), experiment.notes});
  }
  return presets;
}

}  // namespace slimbayes
