#include "slimbayes/engine/row_spec.h"

#include <iterator>

namespace slimbayes::engine {

namespace {

struct ModelOf {
  std::shared_ptr<const RowModel> operator()(const LinearRows& spec) const {
    if (!fits_in_memory(spec.features, std::ssize(spec.head.root))) return nullptr;
    std::shared_ptr<const Features> features = features_of(spec.features);
    return features ? linear_row_model(std::move(features), spec.head) : nullptr;
  }
  std::shared_ptr<const RowModel> operator()(const KernelRows& spec) const { return kernel_row_model(spec); }
  std::shared_ptr<const RowModel> operator()(const MixtureRows& spec) const {
    return mixture_row_model(spec);
  }
  std::shared_ptr<const RowModel> operator()(const EnsembleRows& spec) const {
    return ensemble_row_model(spec);
  }
};

}  // namespace

std::shared_ptr<const RowModel> row_model(const RowSpec& spec) { return std::visit(ModelOf{}, spec.of); }

}  // namespace slimbayes::engine
