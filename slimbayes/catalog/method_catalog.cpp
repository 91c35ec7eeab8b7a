// The description of every method.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "slimbayes/catalog/deep_kernel/dbk_exact_options.h"
#include "slimbayes/catalog/deep_kernel/dbk_options.h"
#include "slimbayes/catalog/deep_kernel/pp_dkl_options.h"
#include "slimbayes/catalog/deep_kernel/sv_dbk_options.h"
#include "slimbayes/catalog/deep_kernel/sv_dkl_options.h"
#include "slimbayes/catalog/deep_kernel/sv_rbf_options.h"
#include "slimbayes/catalog/deep_kernel/vbll_options.h"
#include "slimbayes/catalog/dense_gp/dkl_exact_options.h"
#include "slimbayes/catalog/dense_gp/gp_exact_options.h"
#include "slimbayes/catalog/last_layer/bll_options.h"
#include "slimbayes/catalog/last_layer/dnn_options.h"
#include "slimbayes/catalog/last_layer/last_layer_laplace_options.h"
#include "slimbayes/catalog/last_layer/ntk_gp_options.h"
#include "slimbayes/catalog/last_layer/rich_bll_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/weight_space/bbb_options.h"
#include "slimbayes/catalog/weight_space/ensemble_options.h"
#include "slimbayes/catalog/weight_space/mc_dropout_options.h"
#include "slimbayes/catalog/weight_space/swag_options.h"

namespace slimbayes {
namespace {

// Sets the docs of the options O and the function that checks them. Both derive from describe(O&). `resolve`
// passes the method's name as the owner in messages.
template <class O>
MethodInfo with_options(MethodInfo info, nlohmann::json (*resolve)(const nlohmann::json&)) {
  info.options = option_docs<O>();
  info.resolve = resolve;
  return info;
}

/// Returns the options of a posterior around a trained network that act after its training. `refit` is none:
/// it decides how often the network is trained.
std::vector<std::string> after_training(const std::vector<OptionDoc>& options) {
  std::vector<std::string> names;
  const std::vector<OptionDoc> training = option_docs<TrainedNetworkOptions>();
  for (const OptionDoc& doc : options) {
    if (doc.name != "refit" && std::ranges::find(training, doc.name, &OptionDoc::name) == training.end())
      names.push_back(doc.name);
  }
  return names;
}

/// Sets the docs and checks of the options O of a posterior around a trained network.
template <class O>
MethodInfo with_posterior_options(MethodInfo info, nlohmann::json (*resolve)(const nlohmann::json&)) {
  info = with_options<O>(std::move(info), resolve);
  info.after_training = after_training(info.options);
  return info;
}

/// Merges the settings of several option groups into one preset. Later parts overwrite earlier ones.
nlohmann::json joined(std::initializer_list<nlohmann::json> parts) {
  nlohmann::json all = nlohmann::json::object();
  for (const nlohmann::json& part : parts) all.update(part);
  return all;
}

/// Returns the inputs of a method that reads every kind of input through its network.
std::vector<InputKind> every_input() {
  return {InputKind::table, InputKind::windows, InputKind::images, InputKind::text};
}

/// Returns the tasks of a method trained on SVGP's bound, which takes any likelihood.
std::vector<TaskKind> every_task() {
  return {TaskKind::regression, TaskKind::classification, TaskKind::counts, TaskKind::events};
}

/// Returns the description that the network methods have in common. Images are only classified.
MethodInfo network_method(std::vector<TaskKind> tasks = {TaskKind::regression}) {
  MethodInfo info;
  info.inputs = every_input();
  if (std::ranges::find(tasks, TaskKind::classification) == tasks.end())
    std::erase(info.inputs, InputKind::images);
  info.tasks = std::move(tasks);
  info.input_scale = "min-max";
  info.resumable = true;
  return info;
}

/// MethodInfo::parts of the methods with a predictive objective (N section 3.2).
constexpr const char* kSumAlone =
    "sd and the interval are what is trained for; their parts (predict --parts) are not noise and ignorance. "
    "sd_function is the spread |L^T phi(x)| of the weights that were trained, the objective's only way to "
    "fit "
    "noise that varies with the inputs: mostly that noise, and it may fall away from the data. sd_noise is "
    "the "
    "constant noise that is left";

MethodInfo dbk() {
  MethodInfo info = network_method();
  info.name = "dbk";
  info.summary =
      "Deep basis kernel trained with dPPGP: calibrates the total variance; its split is not "
      "aleatoric/epistemic.";
  info.paper = "N: deep basis kernels, sections 3 and 4, objective N-15";
  info.parts = kSumAlone;
  info.epistemic_is_noise = true;
  info.paper_preset = joined({paper_training(), paper_focus(), paper_noise()});
  return with_options<DbkOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DbkOptions>(given, "dbk"));
  });
}

MethodInfo dbk_exact() {
  MethodInfo info = network_method();
  info.name = "dbk-exact";
  info.updates = true;
  info.summary =
      "Deep basis kernel trained on the exact log evidence of all rows, in memory that does not grow with "
      "them.";
  info.paper = "N: deep basis kernels, section 3.1 (DBK exact, N-11); E: low-rank deep kernels, section 3";
  info.splits_uncertainty = true;
  info.paper_preset = joined({paper_full_batch(), paper_noise()});
  return with_options<DbkExactOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DbkExactOptions>(given, "dbk-exact"));
  });
}

MethodInfo dkl_exact() {
  MethodInfo info = network_method();
  info.name = "dkl-exact";
  info.inputs = {InputKind::table};  // the model file holds the training rows
  info.summary =
      "Dense Gaussian process with an RBF kernel at a network's outputs: deep kernel learning for small "
      "tables "
      "(time n^3, memory n^2).";
  info.paper = "N: deep basis kernels, section 4.1 (baseline DKL exact; Wilson et al. 2016)";
  info.splits_uncertainty = true;
  info.paper_preset = joined({paper_full_batch(), paper_noise_values(), {{"evidence_rows", 6000}}});
  return with_options<DklExactOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DklExactOptions>(given, "dkl-exact"));
  });
}

MethodInfo vbll() {
  MethodInfo info = network_method(every_task());
  info.name = "vbll";
  info.summary = "Variational Bayesian last layer: dbk's model trained on the evidence lower bound.";
  info.paper = "N: deep basis kernels, appendix B (baseline VBLL; Harrison et al. 2024)";
  info.splits_uncertainty = true;
  info.paper_preset = joined({paper_training(), paper_noise()});
  return with_options<VbllOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<VbllOptions>(given, "vbll"));
  });
}

MethodInfo sv_dkl() {
  MethodInfo info = network_method(every_task());
  info.name = "sv-dkl";
  info.summary = "Deep kernel learning with inducing points, trained on the evidence lower bound (SVGP).";
  info.paper = "N: deep basis kernels, objective N-5 (baseline SV-DKL)";
  info.splits_uncertainty = true;
  info.paper_preset = joined({paper_training(), paper_noise()});
  return with_options<SvDklOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<SvDklOptions>(given, "sv-dkl"));
  });
}

MethodInfo pp_dkl() {
  MethodInfo info = network_method();
  info.name = "pp-dkl";
  info.summary =
      "Deep kernel learning with inducing points, trained on the predictive density (PPGP); its split is not "
      "aleatoric/epistemic.";
  info.paper = "N: deep basis kernels, objective N-6 (baseline PP-DKL; Jankowiak et al. 2020)";
  info.parts = kSumAlone;
  info.epistemic_is_noise = true;
  info.paper_preset = joined({paper_training(), paper_focus(), paper_noise()});
  return with_options<PpDklOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<PpDklOptions>(given, "pp-dkl"));
  });
}

MethodInfo sv_rbf() {
  MethodInfo info = network_method(every_task());
  info.inputs = {InputKind::table};  // its kernel acts on the inputs, without a network
  info.name = "sv-rbf";
  info.summary = "Sparse variational Gaussian process with an ARD RBF kernel at the inputs (SVGP).";
  info.paper = "N: deep basis kernels, objective N-5 (baseline SV-RBF; Hensman et al. 2013)";
  info.splits_uncertainty = true;
  info.variance_grows_away = true;
  info.paper_preset = joined({paper_training(), paper_noise()});
  return with_options<SvRbfOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<SvRbfOptions>(given, "sv-rbf"));
  });
}

MethodInfo sv_dbk() {
  MethodInfo info = network_method(every_task());
  info.name = "sv-dbk";
  info.summary =
      "The earlier deep basis kernel: evidence lower bound with a trace regulariser and a diagonal "
      "correction.";
  info.paper = "E: low-rank deep kernels, sections 3.2 and 3.3";
  info.splits_uncertainty = true;
  // E section 4: a residual network of 128 units with tanh, batches of 256, at most 2,000 epochs, stopped
  // after 200 epochs without a better validation NLL.
  info.paper_preset = joined({paper_training(),
                              paper_noise(),
                              {{"epochs", 2000},
                               {"batch", 256},
                               {"weight_decay", 1e-4},
                               {"patience", 200},
                               {"hidden", 128},
                               {"activation", "tanh"}}});
  return with_options<SvDbkOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<SvDbkOptions>(given, "sv-dbk"));
  });
}

MethodInfo dnn() {
  MethodInfo info = network_method({TaskKind::regression, TaskKind::classification});
  info.name = "dnn";
  info.takes_network = true;
  info.aliases = {"map", "deterministic"};
  info.summary =
      "The same network trained on squared error, with one noise variance for all rows, or on cross entropy: "
      "the baseline.";
  info.paper = "N: deep basis kernels, appendix B (baseline DNN)";
  info.parts =
      "one noise for all rows, which holds the model's errors too; it knows nothing of its ignorance";
  info.paper_preset = paper_training();
  return with_options<DnnOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DnnOptions>(given, "dnn"));
  });
}

/// Returns the description that the posteriors of a trained network's last layer have in common.
MethodInfo last_layer_method_info() {
  MethodInfo info = network_method({TaskKind::regression, TaskKind::classification});
  info.input_scale = "standard";
  info.splits_uncertainty = true;
  info.takes_network = true;
  info.paper_preset = paper_last_layer();
  return info;
}

MethodInfo rich_bll() {
  MethodInfo info = last_layer_method_info();
  info.name = "rich-bll";
  info.updates = true;
  info.noise_of = "bll";
  info.summary =
      "Keeps a trained network's mean and adds the variance of its last layer, enriched by the gradients of "
      "all layers.";
  info.paper = "R: richer Bayesian last layers, section 3";
  info.paper_preset = paper_rich_bll();
  return with_posterior_options<RichBllOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<RichBllOptions>(given, "rich-bll"));
  });
}

MethodInfo bll() {
  MethodInfo info = last_layer_method_info();
  info.name = "bll";
  info.updates = true;
  info.aliases = {"nngp"};
  info.summary = "Keeps a trained network's mean and adds the variance of its last layer alone.";
  info.paper = "R: richer Bayesian last layers, section 2 (baseline NNGP/BLL)";
  return with_posterior_options<BllOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<BllOptions>(given, "bll"));
  });
}

MethodInfo last_layer_laplace() {
  MethodInfo info = last_layer_method_info();
  info.name = "last-layer-laplace";
  info.aliases = {"ll-laplace"};
  info.updates = true;
  info.summary =
      "Keeps a trained network and adds the Laplace approximation of its last layer; for classes, with the "
      "covariance of the logits.";
  info.paper = "Daxberger et al. 2021 (baseline of R section 4)";
  info.paper_preset.erase("refit");
  return with_posterior_options<LastLayerLaplaceOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<LastLayerLaplaceOptions>(given, "last-layer-laplace"));
  });
}

MethodInfo ntk_gp() {
  MethodInfo info = last_layer_method_info();
  info.name = "ntk-gp";
  info.aliases = {"lla"};
  info.tasks = {TaskKind::regression};
  info.inputs = {InputKind::table};  // the model file holds the training rows
  info.summary =
      "Keeps a trained network's mean and adds the variance of a Gaussian process with its tangent kernel "
      "(time n^3, memory n^2).";
  info.paper = "R: richer Bayesian last layers, section 2 (NTK-GP, linearised Laplace)";
  info.paper_preset.erase("refit");
  return with_posterior_options<NtkGpOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<NtkGpOptions>(given, "ntk-gp"));
  });
}

/// MethodInfo::parts of the methods that average over draws of a network's weights.
constexpr const char* kSpreadOfDraws =
    "sd_epistemic is the spread of the draws, sd_aleatoric one noise variance for all rows; calibrated in "
    "sum "
    "at best";

MethodInfo mc_dropout() {
  MethodInfo info = network_method({TaskKind::regression, TaskKind::classification});
  info.name = "mc-dropout";
  info.takes_network = true;
  info.summary = "A network trained with dropout, averaged over masks drawn in prediction.";
  info.paper = "Gal and Ghahramani 2016 (baseline of R section 4)";
  info.parts = kSpreadOfDraws;
  info.averages_draws = true;
  info.paper_preset = paper_training();
  return with_options<McDropoutOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<McDropoutOptions>(given, "mc-dropout"));
  });
}

MethodInfo swag() {
  MethodInfo info = network_method({TaskKind::regression, TaskKind::classification});
  info.name = "swag";
  info.takes_network = true;
  info.trains_on = {"batch", "weight_decay", "clip_norm", "time_limit"};
  info.summary = "A Gaussian around the average of the weights that further training visits.";
  info.paper = "Maddox et al. 2019 (baseline of R section 4)";
  info.parts = kSpreadOfDraws;
  info.averages_draws = true;
  info.paper_preset = paper_training();
  return with_options<SwagOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<SwagOptions>(given, "swag"));
  });
}

MethodInfo bbb() {
  MethodInfo info = network_method({TaskKind::regression, TaskKind::classification});
  info.name = "bbb";
  info.aliases = {"bayes-by-backprop"};
  info.summary = "A network whose weights have independent Gaussian posteriors (Bayes by Backprop).";
  info.paper = "Blundell et al. 2015 (baseline of R section 4)";
  info.parts = kSpreadOfDraws;
  info.averages_draws = true;
  info.paper_preset = paper_training();
  return with_options<BbbOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<BbbOptions>(given, "bbb"));
  });
}

MethodInfo ensemble() {
  MethodInfo info;
  info.name = "ensemble";
  info.summary =
      "Several fits of one method (--of), averaged: their disagreement widens what they say of their own.";
  info.tasks = every_task();  // takes() also asks the member method
  info.inputs = every_input();
  info.paper = "Lakshminarayanan, Pritzel and Blundell 2017 (deep ensembles)";
  info.parts =
      "sd_epistemic is the members' own and their disagreement, sd_aleatoric what they say of the noise; "
      "calibrated in sum at best";
  info.input_scale = "min-max";  // a fit uses that of the member method
  info.resumable = true;
  info.inner = "of";
  return with_options<EnsembleOptions>(std::move(info), resolve_ensemble);
}

MethodInfo gp_exact() {
  MethodInfo info;
  info.name = "gp-exact";
  info.summary =
      "Dense Gaussian process with an ARD RBF kernel: the reference on small tables (time n^3, memory n^2).";
  info.tasks = {TaskKind::regression};
  info.inputs = {InputKind::table};
  info.paper = "N: deep basis kernels, section 2 (exact GP regression)";
  info.input_scale = "standard";
  info.seeded = false;
  info.splits_uncertainty = true;
  info.variance_grows_away = true;
  return with_options<GpExactOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<GpExactOptions>(given, "gp-exact"));
  });
}

}  // namespace

std::span<const MethodInfo> method_catalog() {
  static const std::vector<MethodInfo> catalog = {
      dbk(),    dbk_exact(),  vbll(), sv_dkl(),   pp_dkl(),   sv_rbf(),
      sv_dbk(), dkl_exact(),  dnn(),  rich_bll(), bll(),      last_layer_laplace(),
      ntk_gp(), mc_dropout(), swag(), bbb(),      gp_exact(), ensemble()};
  return catalog;
}

}  // namespace slimbayes
