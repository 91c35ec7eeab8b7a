// Methods whose answer is the average over several sets of weights: draws from a distribution of the weights
// (mc-dropout, swag, bbb and the low-rank networks), or independent fits (ensemble).
#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/weight_space/batch_ensemble_options.h"
#include "slimbayes/methods/weight_space/ensemble_options.h"
#include "slimbayes/methods/weight_space/full_rank_options.h"
#include "slimbayes/methods/weight_space/inducing/inducing_options.h"
#include "slimbayes/methods/weight_space/low_rank/low_rank_options.h"
#include "slimbayes/methods/weight_space/mc_dropout_options.h"
#include "slimbayes/methods/weight_space/preset_options.h"
#include "slimbayes/methods/weight_space/sharpness_options.h"
#include "slimbayes/methods/weight_space/swag_options.h"
#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {
namespace {

/// Returns a MethodInfo with the fields that all methods share whose answer averages over draws of a
/// network's weights.
MethodInfo draws_method(std::string name) {
  MethodInfo info =
      segmenting(network_method(std::move(name), {TaskKind::regression, TaskKind::classification}));
  info.streams = true;
  info.parts = SdParts::draws;
  info.presets = {paper_preset({paper_training()},
                               {("the training is that of the networks of the deep basis kernel paper, which "
                                 "lacks this method. The Rich-BLL paper has it with the training of its own "
                                 "networks (the preset `paper` of bll), and does not say its settings"),
                                paper_tables_note()})};
  return info;
}

MethodInfo mc_dropout() {
  MethodInfo info = draws_method("mc-dropout");
  info.takes_network = true;
  info.summary = "A network trained with dropout, averaged over masks drawn in prediction.";
  info.paper = "Gal and Ghahramani 2016 (baseline of R section 4)";
  return with_options<McDropoutOptions>(std::move(info));
}

MethodInfo swag() {
  MethodInfo info = draws_method("swag");
  info.takes_network = true;
  info.trains_on = {"batch", "weight_decay", "clip_norm", "sync_every", "time_limit"};
  info.summary = "A Gaussian around the average of the weights that further training visits.";
  info.paper = "Maddox et al. 2019 (baseline of R section 4)";
  return with_options<SwagOptions>(std::move(info));
}

MethodInfo bbb() {
  MethodInfo info = draws_method("bbb");
  info.aliases = {"bayes-by-backprop"};
  info.presets.front().options.erase("weight_decay");  // the prior takes its place
  info.summary = "A network whose weights have independent Gaussian posteriors (Bayes by Backprop).";
  info.paper = "Blundell et al. 2015 (baseline of R section 4)";
  return with_options<VariationalOptions>(std::move(info));
}

/// Returns the facts of a method that trains a distribution over the weights and also takes counts.
MethodInfo variational_method(std::string name, std::string summary, std::string paper,
                              std::vector<Preset> presets = {}) {
  MethodInfo info = segmenting(
      network_method(std::move(name), {TaskKind::regression, TaskKind::classification, TaskKind::counts}));
  info.streams = true;
  info.parts = SdParts::draws;
  info.presets = std::move(presets);
  info.summary = std::move(summary);
  info.paper = std::move(paper);
  return info;
}

MethodInfo full_rank() {
  return with_options<FullRankOptions>(variational_method(
      "full-rank", "A network with independent random weights, the dense rival of low-rank.",
      "Blundell et al. 2015 (baseline of Toure and Stephens)", paper_presets(PresetOptions::full_rank)));
}

MethodInfo low_rank() {
  return with_options<LowRankOptions>(
      variational_method("low-rank", "A network whose matrices are products A B^T of random factors.",
                         "Toure and Stephens: singular Bayesian neural networks, sections 2 and 3",
                         paper_presets(PresetOptions::low_rank)));
}

MethodInfo low_rank_svd() {
  MethodInfo info =
      variational_method("low-rank-svd", "low-rank, started at the singular vectors of a trained network.",
                         "Toure and Stephens, appendix F.9", paper_presets(PresetOptions::low_rank_svd));
  info.takes_network = true;
  info.trains_on = {"steps",      "epochs",     "batch",         "learning_rate",
                    "schedule",   "warmup",     "clip_norm",     "patience",
                    "sync_every", "time_limit", "class_weights", "label_smoothing"};
  return with_options<LowRankSvdOptions>(std::move(info));
}

MethodInfo low_rank_laplace() {
  return with_options<LowRankOptions>(
      variational_method("low-rank-laplace", "low-rank with Laplace distributions in place of Gaussians.",
                         "Toure and Stephens, section 2", paper_presets(PresetOptions::low_rank_laplace)));
}

MethodInfo rank_1() {
  return with_options<RankOneOptions>(
      variational_method("rank-1", "A network whose matrices are scaled by random vectors.",
                         "Dusenberry et al. 2020", paper_presets(PresetOptions::rank_one)));
}

MethodInfo fid_gp() {
  return with_options<FidGpOptions>(variational_method(
      "fid-gp", "A network whose weights are drawn given a few inducing weights with a flow.",
      "FiD-GP: flow-induced diagonal Gaussian processes, section 4", {inducing_preset(true)}));
}

MethodInfo fid_gp_reparam() {
  return with_options<FidGpOptions>(
      variational_method("fid-gp-reparam", "fid-gp with independent noise of the weights, another model.",
                         "FiD-GP, section 4", {inducing_preset(true)}));
}

MethodInfo ffg_u() {
  return with_options<InducingOptions>(
      variational_method("ffg-u", "Inducing weights with a Gaussian posterior, the baseline of fid-gp.",
                         "Ritter et al. 2021 (baseline of FiD-GP)", {inducing_preset(false)}));
}

MethodInfo batch_ensemble() {
  MethodInfo info = segmenting(
      network_method("batch-ensemble", {TaskKind::regression, TaskKind::classification, TaskKind::counts}));
  info.streams = true;
  info.shares_batches = false;
  info.parts = SdParts::draws;
  info.summary = "An ensemble whose members scale the rows and columns of one network's matrices.";
  info.paper = "Wen, Tran and Ba 2020 (baseline of FiD-GP)";
  return with_options<BatchEnsembleOptions>(std::move(info));
}

MethodInfo f_sgvb_lrt() {
  MethodInfo info = segmenting(
      network_method("f-sgvb-lrt", {TaskKind::regression, TaskKind::classification, TaskKind::counts}));
  info.streams = true;
  info.parts = SdParts::draws;
  info.summary = "full-rank, trained by sharpness-aware steps with drawn outputs in place of drawn weights.";
  info.paper = "Nguyen et al. 2023 (baseline of FiD-GP)";
  return with_options<SharpnessOptions>(std::move(info));
}

MethodInfo ensemble() {
  MethodInfo info;
  info.name = "ensemble";
  info.summary =
      "Averages several fits of one method (`.of`); the disagreement of their means adds to the epistemic "
      "variance.";
  info.tasks = every_task();    // takes() checks that the member method can do the task too
  info.inputs = every_input();  // takes() checks the member method here too
  info.paper = "Lakshminarayanan, Pritzel and Blundell 2017 (deep ensembles)";
  info.parts = SdParts::members;
  info.input_scale = "min-max";  // shown by describe; a fit uses the scale of the member method
  info.resumable = true;
  info.device = true;  // of the members that compute there
  info = segmenting(std::move(info));
  info.inner = "of";
  info.student = true;  // as above
  info.dispersed = true;
  info.options = option_docs<EnsembleOptions>();
  info.resolve = resolve_ensemble;
  return info;
}

}  // namespace

std::vector<MethodInfo> weight_space_methods() {
  return {mc_dropout(),       swag(),    bbb(),    full_rank(),      low_rank(), low_rank_svd(),
          low_rank_laplace(), rank_1(),  fid_gp(), fid_gp_reparam(), ffg_u(),    batch_ensemble(),
          f_sgvb_lrt(),       ensemble()};
}

}  // namespace slimbayes
