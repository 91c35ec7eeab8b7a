#include "slimbayes/method/method.h"

#include <ATen/ATen.h>

#include <utility>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/device.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/engine_network.h"

namespace slimbayes {

Scores Fitted::ood(const Dataset& data, const PredictOptions& options) const {
  const auto trained = network();
  if (!trained || !trained->head.is_classes()) return {};
  const PredictOptions own = trained->module ? options.on_host() : options;
  const BoundNetwork logits(trained->spec, "network",
                            as_type(trained->weights, at::dtype(at::kFloat).device(own.device)));
  const Latent f = latent_rows(data, trained->spec.input, at::kFloat, own, "ood", [&](const Input& input) {
    const at::Tensor mean = on_cpu(pixel_rows(logits(input).to(at::kDouble)));
    return Latent{mean, at::zeros_like(mean)};
  });
  return {{"energy", energy(f.mean)}};
}

std::vector<ProjectorFact> Fitted::projectors() const { return {}; }

std::optional<engine::RowSpec> Fitted::row_spec() const { return {}; }

std::optional<engine::AnswerSpec> Fitted::answer_spec() const { return row_spec(); }

std::shared_ptr<const engine::RowModel> Fitted::row_model() const {
  return row_model_.get([this]() -> LazyRowModel::Made {
    if (!engine_is_available()) return nullptr;
    const std::optional<engine::RowSpec> spec = row_spec();
    return spec ? engine::row_model(*spec) : nullptr;
  });
}

std::unique_ptr<Fitted> Fitted::with_noise(double) const { return nullptr; }

std::shared_ptr<const TrainedNetwork> Fitted::network_of(int64_t) const { return nullptr; }

FitContext part_of(const FitContext& whole, const Stream& stream, CheckpointPolicy checkpoint) {
  FitContext part = whole;
  part.stream = stream;
  part.checkpoint = std::move(checkpoint);
  return part;
}

}  // namespace slimbayes
