// Methods with a dense kernel matrix of all training rows: time n^3, memory n^2.
#include <algorithm>

#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/dense_gp/dkl_exact_options.h"
#include "slimbayes/methods/dense_gp/gp_exact_options.h"

namespace slimbayes {
namespace {

MethodInfo dkl_exact() {
  MethodInfo info = network_method("dkl-exact");
  info.inputs = {InputKind::table};  // tables only, because the model file stores the training rows
  info.summary =
      "Dense Gaussian process with an RBF kernel at a network's outputs: deep kernel learning for small "
      "tables (time n^3, memory n^2).";
  info.paper = "N: deep basis kernels, section 4.1 (baseline DKL exact; Wilson et al. 2016)";
  info.presets = {paper_preset(
      {paper_full_batch(), paper_noise_values(), {{"evidence_rows", 6000}}},
      paper_full_batch_notes(
          {"rows: up to 20,000, with at most 512 conjugate gradients and Lanczos variances of rank "
           "128; here 6,000, with Cholesky. Give `.max_rows` and `.evidence_rows` for more",
           "the function of the noise variance that is trained: GPyTorch's; here its logarithm"}))};
  return with_options<DklExactOptions>(std::move(info));
}

/// Ten evaluations of the evidence on at most evidence_rows rows, and the posterior of all rows. An
/// evaluation has a factorisation, an inverse and some passes over a matrix [k, k].
FitCost gp_exact_cost(const FitSize& size, const nlohmann::json& options) {
  constexpr double kEvaluations = 10, kOfElement = 300, kMatrices = 3;
  const auto n = static_cast<double>(size.rows), d = static_cast<double>(size.input.numel());
  const double k = std::min(n, options.value("evidence_rows", n));
  const double evaluation = 2 * k * k * k + k * k * (kOfElement + 6 * d),
               posterior = n * n * (n + kOfElement);
  return {kEvaluations * evaluation + posterior, evaluation + posterior, n * (n + kOfElement + 2 * d),
          kMatrices * 8 * (k * k + n * n)};
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
  info.needs_validation = false;
  info.variance_grows_away = true;
  info.device = true;
  info.cost = gp_exact_cost;
  return with_options<GpExactOptions>(std::move(info));
}

}  // namespace

std::vector<MethodInfo> dense_gp_methods() { return {dkl_exact(), gp_exact()}; }

}  // namespace slimbayes
