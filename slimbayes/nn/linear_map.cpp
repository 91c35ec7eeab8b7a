#include "slimbayes/nn/linear_map.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

at::Tensor applied(const DenseMap& map, const at::Tensor& x, const at::Tensor& bias) {
  return at::linear(x, map.weight, bias);
}
at::Tensor applied(const FactoredMap& map, const at::Tensor& x, const at::Tensor& bias) {
  return at::linear(at::matmul(x, map.b), map.a, bias);
}
at::Tensor applied(const ScaledMap& map, const at::Tensor& x, const at::Tensor& bias) {
  const at::Tensor y = at::linear(x * map.r, map.weight) * map.s;
  return bias.defined() ? y + bias : y;
}

/// Returns the row of each of `tokens` in a map that holds only the rows of the tokens `held` (ascending). If
/// `held` is undefined, the map holds the rows of all tokens, and the tokens themselves are returned.
at::Tensor places(const at::Tensor& held, const at::Tensor& tokens) {
  return held.defined() ? at::searchsorted(held, tokens) : tokens;
}

at::Tensor looked_up(const DenseMap& map, const at::Tensor& tokens) {
  return at::embedding(map.weight, places(map.tokens, tokens));
}
at::Tensor looked_up(const FactoredMap& map, const at::Tensor& tokens) {
  return at::matmul(at::embedding(map.a, places(map.tokens, tokens)), map.b.t());
}
at::Tensor looked_up(const ScaledMap& map, const at::Tensor& tokens) {
  const at::Tensor held = places(map.tokens, tokens);
  return at::embedding(map.weight, held) * at::embedding(map.s.unsqueeze(1), held) * map.r;
}

at::Tensor whole(const DenseMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return map.weight;
}
at::Tensor whole(const FactoredMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return map.a.mm(map.b.t());
}
at::Tensor whole(const ScaledMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return map.s.unsqueeze(1) * map.weight * map.r;
}

}  // namespace

at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias) {
  return std::visit([&](const auto& one) { return applied(one, x, bias); }, map);
}

at::Tensor rows(const LinearMap& map, const at::Tensor& tokens) {
  return std::visit([&](const auto& one) { return looked_up(one, tokens); }, map);
}

at::Tensor dense(const LinearMap& map) {
  return std::visit([](const auto& one) { return whole(one); }, map);
}

std::pair<int64_t, int64_t> sizes_of(const LinearMap& map) {
  if (const auto* factored = std::get_if<FactoredMap>(&map))
    return {factored->a.size(0), factored->b.size(0)};
  const at::Tensor& weight = std::holds_alternative<DenseMap>(map) ? std::get<DenseMap>(map).weight
                                                                   : std::get<ScaledMap>(map).weight;
  return {weight.size(0), weight.numel() / std::max<int64_t>(1, weight.size(0))};
}

}  // namespace slimbayes
