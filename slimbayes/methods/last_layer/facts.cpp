// dnn, a trained network without a posterior, and the methods that add a posterior to a trained network: they
// keep its mean and add a variance.
#include <algorithm>

#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/last_layer/bll_options.h"
#include "slimbayes/methods/last_layer/dnn_options.h"
#include "slimbayes/methods/last_layer/last_layer_laplace_options.h"
#include "slimbayes/methods/last_layer/ntk_gp_options.h"
#include "slimbayes/methods/last_layer/ntk_sketch_options.h"
#include "slimbayes/methods/last_layer/rich_bll_options.h"

namespace slimbayes {
namespace {

/// Returns the options that are used only after the network has been trained: all except those of the
/// network, of its training, and `refit`, which makes the network train a second time.
std::vector<std::string> after_training(const std::vector<OptionDoc>& options) {
  std::vector<std::string> names;
  const std::vector<OptionDoc> training = option_docs<TrainedNetworkOptions>();
  for (const OptionDoc& doc : options) {
    if (doc.name != "refit" && std::ranges::find(training, doc.name, &OptionDoc::name) == training.end())
      names.push_back(doc.name);
  }
  return names;
}

/// Fills in the options O of a method that adds a posterior to a trained network: their descriptions, their
/// check, and which of them are used only after the training.
template <class O>
MethodInfo with_posterior_options(MethodInfo info) {
  info = with_options<O>(std::move(info));
  info.after_training = after_training(info.options);
  return info;
}

/// Returns a MethodInfo with the fields that all methods share that add a posterior to a trained network.
MethodInfo posterior_method(std::string name) {
  MethodInfo info = network_method(std::move(name), {TaskKind::regression, TaskKind::classification});
  info.input_scale = "standard";
  info.takes_network = true;
  return info;
}

/// Returns the settings of the Rich-BLL paper (R appendix C) for the methods that add a posterior to a
/// trained network, except the option `refit`: two layers of 50 units with ReLU in mu-P, Adam at 1e-3 with
/// batches of 32 and gradients of norm 1 at most, up to 3,000 epochs. The noise variance is the validation
/// MSE, the prior sd is 1.
nlohmann::json paper_posterior() {
  return {{"network", "mlp"},
          {"hidden", 50},
          {"blocks", 2},
          {"activation", "relu"},
          {"parametrisation", "mup"},
          {"reference_width", 50},
          {"epochs", 3000},
          {"batch", 32},
          {"learning_rate", 1e-3},
          {"weight_decay", 0.0},
          {"clip_norm", 1.0},
          {"schedule", "constant"},
          {"patience", 0},
          {"noise", "mse"},
          {"prior", "fixed"},
          {"prior_sd", 1.0}};
}

/// Returns Preset::notes of these settings, `own` first.
std::vector<std::string> paper_posterior_notes(std::vector<std::string> own) {
  for (const char* note :
       {"data: 72, 18 and 10 % of the rows, inputs standardised, target centred; give `.valid_fraction=0.18` "
        "`.test_fraction=0.1` `.split=random` `.scale=standard` `.target_scale=centred`",
        "epochs: 3,000; Energy 2,000, Wine 1,000; batches of 256 for Power: give `.epochs` and `.batch`",
        "epoch kept: the least validation RMSE of every tenth epoch; here of every epoch",
        "mu-P: its constants are not said; here the reference width is 50",
        "weight decay: said to be none for images alone; here none",
        "the seed decides the split, too; give `.split_seed` with `.seed`",
        "images and bandits have other settings (C.2, C.3), for which there is no preset"})
    own.emplace_back(note);
  return own;
}

constexpr const char* kGridOfNoise =
    "noise: the validation MSE, or the best of a grid; here the MSE. `.noise=select` is the grid";
constexpr const char* kLaplaceNoise =
    "noise: the validation MSE, or the best of a grid; here the MSE. `.noise=select` `.select=nll` is the "
    "grid";
constexpr const char* kTrainedOnce =
    "network: trained again on training and validation rows; here on the training rows alone, and with 2,000 "
    "rows or fewer five folds may raise the noise. `.noise_folds=0` leaves it";

/// Returns the option `refit`: as in the Rich-BLL paper, the network is trained again on training and
/// validation rows. Only bll and rich-bll have it.
nlohmann::json paper_refit() { return {{"refit", true}}; }

MethodInfo dnn() {
  MethodInfo info = segmenting(network_method("dnn", {TaskKind::regression, TaskKind::classification}));
  info.streams = true;
  info.takes_network = true;
  info.aliases = {"map", "deterministic"};
  info.summary =
      "The same network trained on squared error, with one noise variance for all rows, or on cross entropy: "
      "the baseline.";
  info.paper = "N: deep basis kernels, appendix B (baseline DNN)";
  info.parts = SdParts::noise_only;
  info.presets = {paper_preset(
      {paper_training()}, {paper_tables_note(), "weight decay: not of the output layer; here of it, too"})};
  return with_options<DnnOptions>(std::move(info));
}

MethodInfo rich_bll() {
  MethodInfo info = posterior_method("rich-bll");
  info.updates = true;
  info.noise_of = "bll";
  info.summary =
      "Keeps a trained network's mean and adds the variance of its last layer, enriched by the gradients of "
      "all layers.";
  info.paper = "R: richer Bayesian last layers, section 3";
  // The paper's regression of the gradients on the features is least squares, without a ridge.
  info.presets = {paper_preset(
      {paper_posterior(), paper_refit(), {{"ridge", 0.0}}},
      paper_posterior_notes({kGridOfNoise, "the subsampled variant: 40 % of the rows; give `.subsample=0.4`",
                             "images: a ridge of 1 itself; `.ridge` is a share"}))};
  return with_posterior_options<RichBllOptions>(std::move(info));
}

MethodInfo bll() {
  MethodInfo info = posterior_method("bll");
  info.updates = true;
  info.streams = true;
  info.aliases = {"nngp"};
  info.summary = "Keeps a trained network's mean and adds the variance of its last layer alone.";
  info.paper = "R: richer Bayesian last layers, section 2 (baseline NNGP/BLL)";
  info.presets = {paper_preset({paper_posterior(), paper_refit()}, paper_posterior_notes({kGridOfNoise}))};
  return with_posterior_options<BllOptions>(std::move(info));
}

MethodInfo last_layer_laplace() {
  MethodInfo info = posterior_method("last-layer-laplace");
  info.aliases = {"ll-laplace"};
  info.updates = true;
  info.streams = true;
  info.summary =
      "Keeps a trained network and adds the Laplace approximation of its last layer; for classes, with the "
      "covariance of the logits.";
  info.paper = "Daxberger et al. 2021 (baseline of R section 4)";
  info.presets = {paper_preset(
      {paper_posterior()}, paper_posterior_notes({kLaplaceNoise, kTrainedOnce,
                                                  "regression: not in the paper's tables for this method"}))};
  return with_posterior_options<LastLayerLaplaceOptions>(std::move(info));
}

MethodInfo ntk_gp() {
  MethodInfo info = posterior_method("ntk-gp");
  info.aliases = {"lla"};
  info.tasks = {TaskKind::regression};
  info.inputs = {InputKind::table};  // tables only, because the model file stores the training rows
  info.summary =
      "Keeps a trained network's mean and adds the variance of a Gaussian process with its tangent kernel "
      "(time n^3, memory n^2).";
  info.paper = "R: richer Bayesian last layers, section 2 (NTK-GP, linearised Laplace)";
  info.presets = {paper_preset(
      {paper_posterior()},
      paper_posterior_notes({kGridOfNoise, kTrainedOnce, "tables: not in the paper for this method"}))};
  return with_posterior_options<NtkGpOptions>(std::move(info));
}

MethodInfo ntk_sketch() {
  MethodInfo info = posterior_method("ntk-sketch");
  info.updates = true;
  info.streams = true;
  info.summary =
      "Keeps a trained network's mean and adds the variance of a linear model on random features of the "
      "whole gradient: ntk-gp at any number of rows.";
  info.paper = "slimbayes; R: richer Bayesian last layers, section 2 (the process that it approximates)";
  info.presets = {
      paper_preset({paper_posterior(), paper_refit()},
                   paper_posterior_notes(
                       {kGridOfNoise, "the paper lacks this method: the settings are those of its rivals"}))};
  return with_posterior_options<NtkSketchOptions>(std::move(info));
}

}  // namespace

std::vector<MethodInfo> last_layer_methods() {
  return {dnn(), rich_bll(), bll(), last_layer_laplace(), ntk_gp(), ntk_sketch()};
}

}  // namespace slimbayes
