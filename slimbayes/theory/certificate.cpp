// The PAC-Bayes bound of a model with random weights, and the conditions under which it is a certificate.
//
// Problem  How large can the expected loss of a network be that is drawn from the posterior?
// Bound    Seeger's and Maurer's form of PAC-Bayes (theory/pac_bayes.h) with the closed-form KL of
//          theory/kl_bound.h. The posterior may depend on the rows in any way: early stopping, a start from a
//          trained network, beta or kappa and the choice of the epoch change the posterior alone. The prior
//          may not: neither the prior of the weights, nor the layers, nor the ranks, nor the encoder, which
//          decides what function some weights compute.
// When     On training rows the encoder has seen the rows, so the bound is no certificate there. Rows that
//          the fit did not use for the encoder (--split valid or test, without --scale-on all) give one.
// Cost     `draws` passes over the rows.
// Source   Toure and Stephens, appendix D; Seeger 2002, Maurer 2004, Langford and Caruana 2001.
#include "slimbayes/theory/certificate.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/theory/kl_bound.h"

namespace slimbayes {

namespace {

using Status = Assumption::Status;

/// The option that --tune searches and that changes the posterior alone; it is the weight of the training
/// loss's KL term.
constexpr const char* kPosteriorOption = "beta";

/// Returns the loss of each row, in [0, 1]. z [b, k] float64, y [b] float64 as encoded. [b]
at::Tensor unit_losses(const Head& head, const Task& task, const at::Tensor& z, const at::Tensor& y,
                       double clip) {
  if (head.is_classes()) {
    const at::Tensor label = head.outputs == 1 ? z.squeeze(1) > 0 : z.argmax(1);
    return (label.to(at::kDouble) != y).to(at::kDouble);
  }
  const at::Tensor mean = head.is_regression() ? z.squeeze(1) : z.squeeze(1).exp();
  return ((mean - y).abs() * (task.y_scale / clip)).clamp_max(1);
}

/// Returns the mean loss of `draws` networks over the rows.
double sampled_risk(const ModelNetwork& network, const Dataset& rows, const CertificateOptions& options) {
  const at::NoGradGuard no_grad;
  const Network net(network.file.spec, "network");
  const WeightPosterior posterior =
      RandomWeights(net.layout(), *network.plan).bound(as_type(network.file.weights, at::kFloat));
  const Stream stream = Stream(0).split("bounds");
  double sum = 0;
  for (int64_t s = 0; s < options.draws; ++s) {
    const Binding weights = posterior.draw(stream.split(static_cast<uint64_t>(s))).binding;
    over_batches(rows, {}, [&](const Batch& batch) {
      const at::Tensor z = net(input_of(batch), weights).to(at::kDouble);
      check_finite(z, "bounds", "outputs of a drawn network");
      sum += unit_losses(network.file.head, rows.schema.task, z, batch.target.to(at::kDouble), options.clip)
                 .sum()
                 .item<double>();
    });
  }
  return sum / static_cast<double>(options.draws) / static_cast<double>(rows.size());
}

/// Returns the names of the tensors of the network that are trained and not random.
std::vector<std::string> trained_constants(const ModelNetwork& network) {
  std::vector<std::string> names;
  const NetworkLayout layout(network.file.spec, "network");
  for (const TensorShape& tensor : layout.tensors) {
    bool random = network.plan->sites.contains(tensor.name);
    for (const MapSite& site : layout.sites) {
      const auto planned = network.plan->sites.find(site.name);
      if (site.tensor == tensor.name && planned != network.plan->sites.end())
        random = !trains_the_matrix(planned->second);
    }
    if (!random) names.push_back(tensor.name);
  }
  return names;
}

Assumption about_rows(const Model& model, const BoundRows& rows) {
  if (kind_of(model.encoder()) == InputKind::windows)
    return {Status::violated,
            "the rows are independent draws of one distribution: windows of one series overlap"};
  return {Status::unknown, "the rows are independent draws of one distribution, that of the rows to come" +
                               std::string(rows.part.empty() ? ", and the fit has not seen them" : "")};
}

/// Other data than those of the fit are unknown: the model file does not tell whether they hold rows of the
/// fit. With --network-from the encoder is that of another fit, whose rows the file does not tell either;
/// training rows count as its rows, as they are where both fits have the same data.
Assumption about_encoder(const Model& model, const BoundRows& rows) {
  const FitOptions& fit = model.fit_options();
  if (!rows.part.empty() && fit.scale_on == "all")
    return {Status::violated,
            "the prior does not depend on the rows: the encoder scaled the inputs by every row, held-out "
            "rows too (`.scale_on=all`), and the prior is one over functions of encoded inputs"};
  if (rows.part == "train")
    return {
        Status::violated,
        "the prior does not depend on the rows: the encoder (scales or words of the inputs, scale of the "
        "target) was fitted on them, and the prior is one over functions of encoded inputs; `.split=valid` "
        "or test takes rows that the encoder has not seen"};
  if (rows.part.empty()) return {Status::unknown, "the encoder was not fitted on any of the rows"};
  if (!fit.network_from.empty())
    return {Status::unknown,
            "the encoder was not fitted on these rows: it came with the network (`.network_from`), and the "
            "model file does not tell which rows that fit had"};
  return {Status::holds, "the encoder was not fitted on these rows"};
}

Assumption about_weights(const ModelNetwork& network) {
  const std::vector<std::string> fixed = trained_constants(network);
  if (fixed.empty()) return {Status::holds, "every trained weight is random, so the KL counts all of them"};
  return {Status::violated,
          fmt::format("every trained weight is random: {} {} not ({}{}), and the KL does not count them",
                      fixed.size(), fixed.size() == 1 ? "tensor is" : "tensors are", fixed.front(),
                      fixed.size() > 1 ? ", ..." : "")};
}

/// Returns the options that --tune searched and that change the prior or the network.
std::vector<std::string> tuned_prior_options(const TuningReport& tuning) {
  std::vector<std::string> names = tuning.options;
  std::erase(names, kPosteriorOption);
  return names;
}

/// Returns how many priors --tune tried: the combinations that differ in these options.
int64_t priors_tried(const TuningReport& tuning, const std::vector<std::string>& names) {
  std::set<nlohmann::json> different;
  for (const TriedOptions& entry : tuning.tried) {
    nlohmann::json values = nlohmann::json::array();
    for (const std::string& name : names) values.push_back(entry.options.value(name, nlohmann::json()));
    different.insert(values);
  }
  return std::ssize(different);
}

/// The assumption on what --tune did, for a model that was tuned. The search scores fits on the validation
/// rows, and the fits depend on the training rows; it never sees the calibration and test rows.
Assumption about_tuning(const TuningReport& tuning, const std::string& part, int64_t tried) {
  const std::vector<std::string> names = tuned_prior_options(tuning);
  if (names.empty()) return {Status::holds, "`.tune` chose no option of the prior or the network"};
  const int64_t priors = priors_tried(tuning, names);
  const std::string what = fmt::format("`.tune` tried {} combinations of {}", priors, fmt::join(names, ", "));
  if (priors <= tried)
    return {Status::holds, fmt::format("{}, not more than the {} of `.ranks_tried`", what, tried)};
  if (part == "train" || part == "valid")
    return {Status::violated,
            fmt::format("at most {} priors were tried: {}; state them by `.ranks_tried`", tried, what)};
  if (part.empty())
    return {Status::unknown,
            fmt::format("{} and chose by rows that are not among these: if they are, state the combinations "
                        "by `.ranks_tried`",
                        what)};
  return {Status::holds, what + " and chose by the validation rows, not by these"};
}

Assumption about_prior(int64_t tried) {
  return {
      Status::unknown,
      fmt::format("the prior (sds, layers, sizes, ranks) was chosen without the rows, or as one of at most "
                  "{} that were listed before (`.ranks_tried`)",
                  tried)};
}

std::vector<Assumption> assumptions_of(const Model& model, const ModelNetwork& network, const BoundRows& rows,
                                       const CertificateOptions& options) {
  std::vector<Assumption> all = {
      about_rows(model, rows),
      about_encoder(model, rows),
      about_prior(options.tried),
      about_weights(network),
      {Status::holds, "the drawn networks are independent of the training and of its choice of parameters"}};
  if (model.tuning()) all.push_back(about_tuning(*model.tuning(), rows.part, options.tried));
  const bool classes = network.file.head.is_classes();
  if (classes)
    all.push_back({Status::unknown, "the classes were known before the rows"});
  else
    all.push_back({Status::unknown, "the clip was chosen without the rows"});
  return all;
}

/// Returns whether no part of the fit used the rows, or for other data may have used none of them.
bool unused(const Model& model, const BoundRows& rows) {
  if (rows.part == "train" || rows.part == "valid") return false;
  return rows.part.empty() || about_encoder(model, rows).status == Status::holds;
}

}  // namespace

bool Certificate::certified() const {
  return std::ranges::none_of(assumptions,
                              [](const Assumption& one) { return one.status == Status::violated; });
}

Certificate certificate_of(const Model& model, const ModelNetwork& network, const BoundRows& rows,
                           const CertificateOptions& options) {
  const Head& head = network.file.head;
  check_options(options, "bounds");
  if (!network.plan.has_value()) refuse("bounds", "a network with random weights", model.method());
  check(head.is_classes() || options.clip > 0, "bounds", "a clip above 0 (`.clip`) for a loss in [0, 1]",
        "none", "choose the absolute error that counts as a full failure, without looking at the data");
  check(!rows.rows.weights().defined(), "bounds", "rows that count once each", "rows with weights",
        "the bound is one of the plain mean of the loss over independent rows: give rows without weights");
  check(!rows.rows.schema.task.bounds, "bounds", "a model of a target without `.bounds`", "one within bounds",
        "the network is one of the transformed target: fit it without `.bounds`");
  Certificate out;
  out.loss = head.is_classes()
                 ? "1 for a wrong class, else 0"
                 : fmt::format("min(1, |y - prediction| / {:g}), in the target's units", options.clip);
  const NetworkLayout layout(network.file.spec, "network");
  const WeightPosterior posterior =
      RandomWeights(layout, *network.plan).bound(as_type(network.file.weights, at::kDouble));
  out.input = {sampled_risk(network, rows.rows, options),
               options.draws,
               kl_bound(posterior, *network.plan),
               rows.rows.size(),
               options.tried,
               options.delta};
  out.bound = pac_bayes_bound(out.input);
  if (unused(model, rows)) out.held_out = held_out_bound(out.input);
  out.assumptions = assumptions_of(model, network, rows, options);
  return out;
}

}  // namespace slimbayes
