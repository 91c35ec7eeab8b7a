#include "slimbayes/nn/linear_map.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns x as [S, n, in] if it holds rows of S draws, as [n, in] if all draws share it. `rows` is the
/// number of rows of the batch.
at::Tensor by_draw(const at::Tensor& x, int64_t draws, int64_t rows) {
  return x.size(0) == rows ? x.reshape({-1, x.size(-1)}) : x.reshape({draws, -1, x.size(-1)});
}

/// Returns y [S, n, out] in the shape of x, [S b, ..., out].
at::Tensor like_rows(const at::Tensor& y, const at::Tensor& x, int64_t rows) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.front() = y.size(0) * rows;
  sizes.back() = y.size(2);
  return y.reshape(sizes);
}

at::Tensor applied(const DenseMap& map, const at::Tensor& x, const at::Tensor& bias, int64_t rows) {
  if (map.weight.dim() != 3) return at::linear(x, map.weight, bias);
  const at::Tensor y = at::matmul(by_draw(x, map.weight.size(0), rows), map.weight.transpose(1, 2));
  return with_bias(like_rows(y, x, rows), bias);
}
at::Tensor applied(const FactoredMap& map, const at::Tensor& x, const at::Tensor& bias, int64_t rows) {
  if (map.a.dim() != 3) return at::linear(at::matmul(x, map.b), map.a, bias);
  const at::Tensor inner = at::matmul(by_draw(x, map.b.size(0), rows), map.b);  // [S, n, r]
  return with_bias(like_rows(at::bmm(inner, map.a.transpose(1, 2)), x, rows), bias);
}
at::Tensor applied(const ScaledMap& map, const at::Tensor& x, const at::Tensor& bias, int64_t rows) {
  if (map.s.dim() != 2) return with_bias(at::linear(x * map.r, map.weight) * map.s, bias);
  const at::Tensor scaled = by_draw(x, map.s.size(0), rows) * map.r.unsqueeze(1);  // [S, n, in]
  return with_bias(like_rows(at::linear(scaled, map.weight) * map.s.unsqueeze(1), x, rows), bias);
}

at::Tensor applied(const LocalMap& map, const at::Tensor& x, const at::Tensor& bias, int64_t) {
  const at::Tensor var = at::linear(x.square(), map.sd.square());
  return with_bias(drawn_outputs(at::linear(x, map.mean), var, map.stream), bias);
}

/// Returns the row of each of `tokens` in a map that holds only the rows of the tokens `held` (ascending). If
/// `held` is undefined, the map holds the rows of all tokens, and the tokens themselves are returned.
at::Tensor places(const at::Tensor& held, const at::Tensor& tokens) {
  return held.defined() ? at::searchsorted(held, tokens) : tokens;
}

/// Returns y [S, n, in], the rows of all tokens for every draw, as [S b, ..., in].
at::Tensor like_tokens(const at::Tensor& y, const at::Tensor& tokens) {
  std::vector<int64_t> sizes = tokens.sizes().vec();
  sizes.front() *= y.size(0);
  sizes.push_back(y.size(2));
  return y.reshape(sizes);
}

at::Tensor looked_up(const DenseMap& map, const at::Tensor& tokens) {
  const at::Tensor held = places(map.tokens, tokens);
  if (map.weight.dim() != 3) return at::embedding(map.weight, held);
  return like_tokens(map.weight.index_select(1, held.flatten()), tokens);
}
at::Tensor looked_up(const FactoredMap& map, const at::Tensor& tokens) {
  const at::Tensor held = places(map.tokens, tokens);
  if (map.a.dim() != 3) return at::matmul(at::embedding(map.a, held), map.b.t());
  return like_tokens(at::bmm(map.a.index_select(1, held.flatten()), map.b.transpose(1, 2)), tokens);
}
at::Tensor looked_up(const ScaledMap& map, const at::Tensor& tokens) {
  const at::Tensor held = places(map.tokens, tokens), own = at::embedding(map.weight, held);
  if (map.s.dim() != 2) return own * at::embedding(map.s.unsqueeze(1), held) * map.r;
  const at::Tensor flat = own.reshape({-1, own.size(-1)}), s = map.s.index_select(1, held.flatten());
  return like_tokens(flat * s.unsqueeze(2) * map.r.unsqueeze(1), tokens);
}

at::Tensor looked_up(const LocalMap&, const at::Tensor&) {
  internal_check(false, "rows", "no values of the map are drawn");
  return {};
}

at::Tensor whole(const LocalMap&) {
  internal_check(false, "dense", "no values of the map are drawn");
  return {};
}
at::Tensor whole(const DenseMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return map.weight;
}
at::Tensor whole(const FactoredMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return at::matmul(map.a, map.b.transpose(-2, -1));
}
at::Tensor whole(const ScaledMap& map) {
  internal_check(!map.tokens.defined(), "dense", "the map holds the rows of some tokens");
  return map.s.unsqueeze(-1) * map.weight * map.r.unsqueeze(-2);
}

/// Returns the stacked map of maps of the form Map. `part` makes a map of this form from the function that
/// stacks one of its tensors.
template <class Map, class Part>
LinearMap stacked_as(const std::vector<LinearMap>& maps, Part part) {
  return part([&](at::Tensor Map::*member) {
    std::vector<at::Tensor> all;
    for (const LinearMap& map : maps) all.push_back(std::get<Map>(map).*member);
    return stacked(all);
  });
}

}  // namespace

at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias, int64_t rows) {
  return std::visit([&](const auto& one) { return applied(one, x, bias, rows); }, map);
}

at::Tensor drawn_outputs(const at::Tensor& mean, const at::Tensor& var, const Stream& stream) {
  const at::Tensor e = stream.normal_float32(mean.sizes(), mean.device()).to(mean.scalar_type());
  // An input of zeros has no variance; the root has no derivative there, and its output does not depend on
  // it.
  const at::Tensor positive = var > 0;
  return mean + at::where(positive, at::where(positive, var, 1.0).sqrt() * e, 0.0);
}

at::Tensor with_bias(const at::Tensor& y, const at::Tensor& bias) {
  if (!bias.defined()) return y;
  if (bias.dim() == 1) return y + bias;
  return (y.reshape({bias.size(0), -1, y.size(-1)}) + bias.unsqueeze(1)).reshape(y.sizes());
}

at::Tensor stacked(const std::vector<at::Tensor>& tensors) {
  const at::Tensor& first = tensors.front();
  const auto same = [&](const at::Tensor& one) { return one.is_same(first); };
  return std::ranges::all_of(tensors, same) ? first : at::stack(tensors);
}

LinearMap stacked(const std::vector<LinearMap>& maps) {
  if (const auto* dense = std::get_if<DenseMap>(&maps.front()))
    return stacked_as<DenseMap>(maps, [&](const auto& all) {
      return DenseMap{all(&DenseMap::weight), dense->tokens};
    });
  if (const auto* factored = std::get_if<FactoredMap>(&maps.front()))
    return stacked_as<FactoredMap>(maps, [&](const auto& all) {
      return FactoredMap{all(&FactoredMap::a), all(&FactoredMap::b), factored->tokens};
    });
  return stacked_as<ScaledMap>(maps, [&](const auto& all) {
    return ScaledMap{all(&ScaledMap::weight), all(&ScaledMap::s), all(&ScaledMap::r),
                     std::get<ScaledMap>(maps.front()).tokens};
  });
}

at::Tensor rows_of_map(const LinearMap& map, const at::Tensor& tokens) {
  return std::visit([&](const auto& one) { return looked_up(one, tokens); }, map);
}

at::Tensor dense(const LinearMap& map) {
  return std::visit([](const auto& one) { return whole(one); }, map);
}

std::pair<int64_t, int64_t> sizes_of(const LinearMap& map) {
  if (const auto* local = std::get_if<LocalMap>(&map))
    return {local->mean.size(0), local->mean.numel() / local->mean.size(0)};
  if (const auto* factored = std::get_if<FactoredMap>(&map))
    return {factored->a.size(0), factored->b.size(0)};
  const at::Tensor& weight = std::holds_alternative<DenseMap>(map) ? std::get<DenseMap>(map).weight
                                                                   : std::get<ScaledMap>(map).weight;
  return {weight.size(0), weight.numel() / std::max<int64_t>(1, weight.size(0))};
}

}  // namespace slimbayes
