#include "slimbayes/methods/weight_space/inducing/gradient_projection.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/singular_values.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/methods/weight_space/draw_stack.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr int64_t kMostFeatures = 4096, kMostRows = 1024;
constexpr double kKeptEnergy = 0.9,
                 kProjectionRidge = 1e-6;  // the ridge as a share of the largest eigenvalue of U U^T
constexpr const char *kDirections = ".directions", *kInducing = ".inducing", *kStored = "ood.";

/// A row's z = h * gradient at a key layer; on the CPU, as all that follows from it.
struct FeatureVector {
  at::Tensor values;  // summed over cells or steps [b, N] float64
  at::Tensor norm;    // before the sum [b] float64
};

FeatureVector feature_vector(const at::Tensor& h, const at::Tensor& gradient) {
  const at::Tensor z = h.detach().to(at::kDouble) * gradient.to(at::kDouble);
  const at::Tensor norm = on_cpu(z.flatten(1).norm(2, 1));
  if (z.dim() == 4) return {on_cpu(over_cells(z, kMostFeatures)), norm};
  return {on_cpu(z.dim() == 3 ? z.sum(1) : z), norm};
}

struct GradientFeatures {
  at::Tensor logits;              // [b, outputs]
  std::vector<FeatureVector> of;  // of each key layer
};

PredictOptions with_gradients(PredictOptions options = {}) {
  options.gradients = true;
  return options;
}

/// Returns the draw of which the score takes U and the network.
WeightDraw scored_draw(const WeightPosterior& weights) {
  at::NoGradGuard no_grad;
  return weights.draw(draw_stream(0));
}

/// Computes the gradient features of rows at key layers with fixed weights, on the device of the weights.
class FeaturePass {
 public:
  FeaturePass(const ScoredNetwork& of, const std::vector<std::string>& sites)
      : of_(of), binding_(sites.empty() ? mean(of) : scored_draw(of.weights).binding) {
    const NetworkLayout& layout = of.network.layout();
    for (const std::string& name : sites) {
      const size_t place = layout.site(name);
      layers_.push_back(layout.sites[place].layer);
      // Activations have a gradient if a weight before them has one.
      binding_.maps[place] = DenseMap{dense(binding_.maps[place]).detach().set_requires_grad(true)};
    }
  }

  GradientFeatures operator()(const Input& input) const {
    const Traced traced = of_.network.traced(input, binding_);
    const at::Tensor logits = traced.output.detach();
    GradientFeatures out{on_cpu(logits), {}};
    if (layers_.empty()) return out;
    std::vector<at::Tensor> outputs;
    for (const std::string& layer : layers_)
      outputs.push_back(std::ranges::find(traced.taps, layer, &Tap::layer)->output);
    const at::Tensor label =
        of_.head.outputs == 1 ? (logits.squeeze(-1) > 0).to(at::kFloat) : logits.argmax(-1).to(at::kFloat);
    // The rows are independent, so the gradient of the sum holds the gradient of each row.
    const auto gradients = torch::autograd::grad({of_.head.loss(traced.output, label).sum()}, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) out.of.push_back(feature_vector(outputs[i], gradients[i]));
    return out;
  }

 private:
  static Binding mean(const ScoredNetwork& of) {
    at::NoGradGuard no_grad;
    return of.weights.mean();
  }

  const ScoredNetwork& of_;
  Binding binding_;
  std::vector<std::string> layers_;
};

/// Returns the first `count` principal directions of `rows` [n, N] without centring, one per row. They are 0
/// beyond the directions that the rows have. Rows that are not finite are left out. [count, N]
at::Tensor principal_directions(const at::Tensor& rows, int64_t count) {
  constexpr double kLeast = 1e-10;
  at::Tensor out = at::zeros({count, rows.size(1)}, at::kDouble);
  const at::Tensor z = rows.index_select(0, rows.isfinite().all(1).nonzero().squeeze(1));
  if (z.size(0) == 0) return out;
  const Spectrum gram = spectrum(at::matmul(z, z.t()));
  const at::Tensor values = gram.values.flip(0), vectors = gram.vectors.flip(1);
  const double largest = values[0].item<double>();
  if (largest == 0) return out;
  const int64_t found = std::min(count, (values > kLeast * largest).sum().item<int64_t>());
  const at::Tensor scores = at::matmul(z.t(), vectors.narrow(1, 0, found));  // [N, found]
  out.narrow(0, 0, found).copy_((scores / values.narrow(0, 0, found).sqrt()).t());
  return out;
}

/// What the score takes of a vector z~ of a key layer.
struct Projection {
  at::Tensor basis;   // [k, M_in] orthonormal rows v_i of the projector sum_i w_i v_i v_i^T
  at::Tensor weight;  // [k] w_i
  double rank;        // the trace of P = U^T (U U^T + e I)^-1 U
  int64_t kept;       // directions that take the place of P; 0: P itself
  /// Whether the residual of every row is 0.
  bool leaves_nothing() const { return kept == basis.size(1); }
};

Projection projection_of(const at::Tensor& u) {
  const auto [left, s, v] = at::linalg_svd(u.to(at::kDouble), /*full_matrices=*/false);
  const at::Tensor squares = s.square();
  const at::Tensor weight = squares / (squares + kProjectionRidge * squares.max());
  const double rank = weight.sum().item<double>();
  if (rank < static_cast<double>(u.size(1)) - 0.5) return {v, weight, rank, 0};
  const int64_t kept = rank_for_energy(s, kKeptEnergy);
  return {v.narrow(0, 0, kept), at::ones({kept}, at::kDouble), rank, kept};
}

/// The stored tensors of a key layer.
struct KeyLayer {
  std::string site;
  at::Tensor directions, inducing;
};

/// Returns the number of directions that the training rows have at a key layer.
int64_t directions_of(const KeyLayer& layer) { return layer.directions.any(1).sum().item<int64_t>(); }

/// Returns the key layers whose tensors are stored. Throws std::invalid_argument if a tensor lacks its twin
/// or has a shape that does not fit it.
std::vector<KeyLayer> key_layers(const Weights& stored) {
  std::vector<KeyLayer> layers;
  for (const auto& [name, tensor] : stored) {
    if (!name.starts_with(kStored) || !name.ends_with(kDirections)) continue;
    const std::string stem = name.substr(0, name.size() - std::string_view(kDirections).size());
    const auto twin = stored.find(stem + kInducing);
    const bool fits = twin != stored.end() && twin->second.dim() == 2 && tensor.dim() == 2 &&
                      twin->second.size(1) == tensor.size(0);
    check(fits, "ood", "the directions and the inducing weights of a layer", "one without the other",
          "the model file is damaged");
    layers.push_back({stem.substr(std::string_view(kStored).size()), tensor, twin->second});
  }
  return layers;
}

/// Returns the scores of rows at one key layer: residual, relative residual, the norm within the directions
/// `b` [M_in, N], and that of z. [n, 4]
at::Tensor layer_scores(const FeatureVector& z, const at::Tensor& b, const Projection& p) {
  const at::Tensor inside = at::matmul(z.values, b.to(at::kDouble).t());  // z~ [n, M_in]
  const at::Tensor residual =
      (inside - at::matmul(at::matmul(inside, p.basis.t()) * p.weight, p.basis)).norm(2, 1);
  const at::Tensor whole = inside.norm(2, 1);
  const at::Tensor relative = at::where(whole == 0, (z.norm > 0).to(at::kDouble), residual / whole);
  return at::stack({residual, relative, whole, z.norm}, 1);
}

}  // namespace

at::Tensor over_cells(const at::Tensor& z, int64_t most) {
  int64_t side = 1;
  const auto cells = [&](int64_t pixels) { return (pixels + side - 1) / side; };
  while (z.size(1) * cells(z.size(2)) * cells(z.size(3)) > most && side < std::max(z.size(2), z.size(3)))
    ++side;
  const auto sums = [side](const at::Tensor& x) {
    return at::avg_pool2d(x, side, side, 0, /*ceil_mode=*/true, true, /*divisor_override=*/1);
  };
  return (sums(z) / sums(at::ones_like(z.slice(0, 0, 1).slice(1, 0, 1))).sqrt()).flatten(1);
}

std::vector<std::string> key_sites(const NetworkSpec& spec, const NetworkLayout& layout,
                                   const WeightPlan& plan, const std::vector<std::string>& chosen) {
  std::map<std::string, std::string> by_label;
  std::vector<std::string> hidden;  // labels, in the order of the layers
  visit_layers(spec, layout.prefix, [&](const LayerSpec& layer, const Shape&, const std::string& name) {
    if (!std::holds_alternative<Linear>(layer) && !std::holds_alternative<Conv2d>(layer)) return;
    const MapSite& site = layout.sites[layout.site(name + ".weight")];
    const auto planned = plan.sites.find(site.name);
    if (planned == plan.sites.end() || planned->second.structure != "inducing") return;
    by_label[site.label] = site.name;
    if (site.label != "output" && site.label.find("downsample") == std::string::npos)
      hidden.push_back(site.label);
  });
  std::vector<std::string> labels;
  for (const std::string& entry : chosen)
    for (std::string& one : split_list(entry)) labels.push_back(std::move(one));
  if (labels == std::vector<std::string>{"auto"}) {
    const std::vector<std::string> paper = {"layer2.1.conv2", "layer4.1.conv2"};
    if (by_label.contains(paper[0]) && by_label.contains(paper[1]))
      labels = paper;
    else if (!hidden.empty())
      labels = {hidden[(hidden.size() - 1) / 2], hidden.back()};
    else
      labels = by_label.contains("output") ? std::vector<std::string>{"output"} : std::vector<std::string>{};
  }
  std::vector<std::string> sites, known;
  for (const auto& [label, site] : by_label) known.push_back(label);
  for (const std::string& label : labels) {
    if (!by_label.contains(label))
      refuse("ood_layers", "auto or linear layers and convolutions with inducing weights",
             fmt::format("'{}'", foreign_text(label.substr(0, 80))),
             fmt::format("they are {}", fmt::join(known, ", ")));
    if (std::ranges::find(sites, by_label[label]) == sites.end()) sites.push_back(by_label[label]);
  }
  return sites;
}

Weights projection_statistics(const ScoredNetwork& of, const std::vector<std::string>& sites,
                              const Dataset& rows, const Stream& stream, const Collective* ranks) {
  Weights stored;
  if (sites.empty()) return stored;
  const int64_t n = std::min(rows.size(), kMostRows);
  const at::Tensor some = std::get<0>(drawn_rows(rows, n, stream.split("rows")).sort());
  const FeaturePass features(of, sites);
  std::vector<std::vector<at::Tensor>> z(sites.size());
  over_batches(taken_rows(rows, some, ranks), with_gradients(), [&](const Batch& batch) {
    const GradientFeatures found = features(input_of(batch));
    for (size_t i = 0; i < sites.size(); ++i) z[i].push_back(found.of[i].values);
  });
  at::NoGradGuard no_grad;
  const WeightDraw draw = scored_draw(of.weights);
  const std::vector<std::string> names = of.weights.names();
  for (size_t i = 0; i < sites.size(); ++i) {
    const auto place = static_cast<size_t>(std::ranges::find(names, sites[i]) - names.begin());
    const at::Tensor u = on_cpu(draw.sites.at(place).numbers.at(2));
    stored[kStored + sites[i] + kInducing] = u.to(at::kFloat).contiguous();
    stored[kStored + sites[i] + kDirections] =
        principal_directions(at::cat(z[i]), u.size(1)).to(at::kFloat).contiguous();
  }
  return stored;
}

Scores projection_scores(const ScoredNetwork& of, const Weights& stored, const Dataset& rows,
                         const PredictOptions& options) {
  const std::vector<KeyLayer> layers = key_layers(stored);
  std::vector<std::string> sites;
  std::vector<Projection> projections;
  for (const KeyLayer& layer : layers) {
    sites.push_back(layer.site);
    projections.push_back(projection_of(layer.inducing));
  }
  const FeaturePass features(of, sites);
  const auto scores_of = [&](const Input& input) {
    const GradientFeatures found = features(input);
    const at::Tensor of_logits = energy(pixel_rows(found.logits).to(at::kDouble));
    if (layers.empty()) return Latent{of_logits.unsqueeze(1), at::zeros_like(of_logits)};
    at::Tensor sums = at::zeros({found.logits.size(0), 4}, at::kDouble);
    for (size_t i = 0; i < layers.size(); ++i)
      sums = sums + layer_scores(found.of[i], layers[i].directions, projections[i]);
    const at::Tensor scores = at::cat({of_logits.unsqueeze(1), sums / static_cast<double>(layers.size())}, 1);
    return Latent{scores, at::zeros_like(scores)};
  };
  const Latent all = latent_rows(rows, of.spec.input, at::kFloat, with_gradients(options), "ood", scores_of);
  Scores scores = {{"energy", all.mean.select(1, 0).contiguous()}};
  if (layers.empty()) return scores;
  const auto column = [&](int64_t i) { return all.mean.select(1, i).contiguous(); };
  scores["projected_norm"] = column(3);
  scores["gradient_norm"] = column(4);
  if (std::ranges::any_of(layers, [](const KeyLayer& one) { return directions_of(one) == 0; }) ||
      std::ranges::any_of(projections, &Projection::leaves_nothing))
    return scores;
  scores["residual"] = column(1);
  scores["relative_residual"] = column(2);
  return scores;
}

std::vector<ProjectorFact> projection_facts(const NetworkLayout& layout, const Weights& stored) {
  std::vector<KeyLayer> layers = key_layers(stored);
  std::ranges::sort(layers, {}, [&](const KeyLayer& layer) { return layout.site(layer.site); });
  std::vector<ProjectorFact> facts;
  for (const KeyLayer& layer : layers) {
    const Projection p = projection_of(layer.inducing);
    facts.push_back({layout.sites[layout.site(layer.site)].label, layer.inducing.size(1),
                     directions_of(layer), p.rank, p.kept});
  }
  return facts;
}

}  // namespace slimbayes
