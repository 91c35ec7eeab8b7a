// Deep kernels (basis functions or inducing points at the outputs of a network) and sparse Gaussian processes
// (inducing points at the inputs themselves).
#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/deep_kernel/dbk_exact_options.h"
#include "slimbayes/methods/deep_kernel/dbk_options.h"
#include "slimbayes/methods/deep_kernel/pp_dkl_options.h"
#include "slimbayes/methods/deep_kernel/sv_dbk_options.h"
#include "slimbayes/methods/deep_kernel/sv_dkl_options.h"
#include "slimbayes/methods/deep_kernel/sv_rbf_options.h"
#include "slimbayes/methods/deep_kernel/vbll_options.h"

namespace slimbayes {
namespace {

MethodInfo dbk() {
  MethodInfo info = network_method("dbk");
  info.streams = true;
  info.summary =
      "Deep basis kernel trained with dPPGP: calibrates the total variance; its split is not "
      "aleatoric/epistemic.";
  info.paper = "N: deep basis kernels, sections 3 and 4, objective N-15";
  info.parts = SdParts::sum_only;
  info.student = true;
  info.presets = {paper_preset(
      {paper_training(), paper_focus(), paper_noise()},
      paper_training_notes(
          {"tables: alpha and beta of 0, 0.01, 0.1 and 1 each those of the best validation NLL; give `.tune`",
           "DBK-RBF: give `.basis=rbf`",
           ("curves of one input (B.1), alpha and beta 0.01, 1,000 validation and 1,000 test rows: give "
            "`.batch=200` `.epochs=2000` `.patience=100` `.noise_folds=0`"),
           ("mobile internet (B.3): give `.basis=rbf` `.hidden=256` `.rank=1024` `.alpha=0.1` `.beta=0.01`; "
            "targets log10, inputs scaled by the box of the map")}))};
  return with_options<DbkOptions>(std::move(info));
}

MethodInfo dbk_exact() {
  MethodInfo info = network_method("dbk-exact");
  info.streams = true;
  info.updates = true;
  info.summary =
      "Deep basis kernel trained on the exact log evidence of all rows, in memory that does not grow with "
      "them.";
  info.paper = "N: deep basis kernels, section 3.1 (DBK exact, N-11); E: low-rank deep kernels, section 3";
  info.presets = {paper_preset(
      {paper_full_batch(), paper_noise()},
      paper_full_batch_notes(
          {"the function of the noise variance that is trained: not said; here its root",
           ("E's exact deep basis kernels, which have tables, too: give `.activation=tanh` `.hidden=128` "
            "`.basis=linear` `.alpha=1` `.correction=true` `.weight_decay=1e-4` `.steps=10000` "
            "`.patience=30`, on a curve `.network=mlp`; Adam's decay is not decoupled there")}))};
  return with_options<DbkExactOptions>(std::move(info));
}

MethodInfo vbll() {
  MethodInfo info = network_method("vbll", every_task());
  info.dispersed = true;
  info.streams = true;
  info.summary = "Variational Bayesian last layer: dbk's model trained on the evidence lower bound.";
  info.paper = "N: deep basis kernels, appendix B (baseline VBLL; Harrison et al. 2024)";
  info.presets = {paper_preset({paper_training(), paper_noise()}, paper_training_notes())};
  return with_options<VbllOptions>(std::move(info));
}

MethodInfo sv_dkl() {
  MethodInfo info = network_method("sv-dkl", every_task());
  info.dispersed = true;
  info.streams = true;
  info.summary = "Deep kernel learning with inducing points, trained on the evidence lower bound (SVGP).";
  info.paper = "N: deep basis kernels, objective N-5 (baseline SV-DKL)";
  info.presets = {
      paper_preset({paper_training(), paper_noise()},
                   paper_training_notes({"mobile internet (B.3): give `.hidden=256` `.rank=1024`; targets "
                                         "log10, inputs scaled by the box of the map"}))};
  return with_options<SvDklOptions>(std::move(info));
}

MethodInfo pp_dkl() {
  MethodInfo info = network_method("pp-dkl");
  info.streams = true;
  info.summary =
      "Deep kernel learning with inducing points, trained on the predictive density (PPGP); its split is not "
      "aleatoric/epistemic.";
  info.paper = "N: deep basis kernels, objective N-6 (baseline PP-DKL; Jankowiak et al. 2020)";
  info.parts = SdParts::sum_only;
  info.student = true;
  info.presets = {
      paper_preset({paper_training(), paper_focus(), paper_noise()},
                   paper_training_notes(
                       {"beta: of 0, 0.01, 0.1 and 1 the one of the best validation NLL; give `.tune`"}))};
  return with_options<PpDklOptions>(std::move(info));
}

MethodInfo sv_rbf() {
  MethodInfo info = network_method("sv-rbf", every_task());
  info.dispersed = true;
  info.streams = true;
  info.inputs = {InputKind::table};  // the kernel acts on table columns, without a network
  info.summary = "Sparse variational Gaussian process with an ARD RBF kernel at the inputs (SVGP).";
  info.paper = "N: deep basis kernels, objective N-5 (baseline SV-RBF; Hensman et al. 2013)";
  info.variance_grows_away = true;
  info.presets = {
      paper_preset({paper_training(), paper_noise()},
                   paper_training_notes(
                       {("tables of B.2: the paper leaves this method out; its experiment is mobile internet "
                         "(B.3): give `.rank=1024`; targets log10, inputs scaled by the box of the map")}))};
  return with_options<SvRbfOptions>(std::move(info));
}

MethodInfo sv_dbk() {
  MethodInfo info = network_method("sv-dbk", every_task());
  info.dispersed = true;
  info.streams = true;
  info.summary =
      "The earlier deep basis kernel: evidence lower bound with a trace regulariser and a diagonal "
      "correction.";
  info.paper = "E: low-rank deep kernels, sections 3.2 and 3.3";
  // The settings of the earlier deep basis kernel paper (E section 4): a residual network of 128 units with
  // tanh, batches of 256, at most 2,000 epochs, stopped after 200 epochs without a better validation NLL.
  info.presets = {paper_preset(
      {paper_training(),
       paper_noise(),
       {{"epochs", 2000},
        {"batch", 256},
        {"weight_decay", 1e-4},
        {"patience", 200},
        {"hidden", 128},
        {"activation", "tanh"}}},
      {"data: 70, 10 and 20 % of the rows, one by one; give `.valid_fraction=0.1` `.test_fraction=0.2` "
       "`.split=random` `.scale_on=all`",
       "optimiser: Adam with a weight decay of 1e-4; here AdamW, whose decay is decoupled",
       "validation: every 10 epochs; here every epoch",
       "weight decay: of the layer that gives the basis, too; here not",
       "mobile internet (4.3): there is no preset for it",
       "the exact evidence (section 3.1): at most 10,000 steps, patience 2,000; here the method dbk-exact",
       "the function of the noise variance that is trained: not said; here its root"})};
  return with_options<SvDbkOptions>(std::move(info));
}

}  // namespace

std::vector<MethodInfo> deep_kernel_methods() {
  return {dbk(), dbk_exact(), vbll(), sv_dkl(), pp_dkl(), sv_rbf(), sv_dbk()};
}

}  // namespace slimbayes
