// Tensors of the numbers of a stream. The numbers themselves are in density/philox.
#include "slimbayes/core/random.h"

#include <ATen/ATen.h>

#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/device_random.h"
#include "slimbayes/density/philox.h"

namespace slimbayes {

namespace {

double narrowed(double x, double) { return x; }
float narrowed(double x, float) {
  float y = static_cast<float>(x);
  return x < 1.0 && y == 1.0f ? 1.0f - 0x1p-24f : y;  // rounding must not give 1
}

/// Fills out[0], ..., out[n - 1] with the pairs of numbers that draw(0), draw(1), ... return; if n is odd,
/// the last number of the last pair is not used.
template <class Number, class Draw>
void fill(Number* out, int64_t n, Draw draw) {
  for (int64_t i = 0; i < n; i += 2) {
    auto [first, second] = draw(static_cast<uint64_t>(i) / 2);
    out[i] = narrowed(first, Number{});
    if (i + 1 < n) out[i + 1] = narrowed(second, Number{});
  }
}

at::ScalarType checked_type(const at::TensorOptions& options, const char* function) {
  const at::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  if (type != at::kDouble && type != at::kFloat)
    refuse(function, "type float64 or float32", at::toString(type), "draw in float32 and convert");
  return type;
}

/// Fills a tensor on the CPU, so that a float64 number has the bits of the C library's log, cos and sin on
/// every device.
template <class Draw>
at::Tensor filled(at::IntArrayRef shape, const at::TensorOptions& options, const char* function, Draw draw) {
  const at::ScalarType type = checked_type(options, function);
  at::Tensor out = at::empty(shape, at::TensorOptions().dtype(type));
  if (type == at::kDouble)
    fill(out.mutable_data_ptr<double>(), out.numel(), draw);
  else
    fill(out.mutable_data_ptr<float>(), out.numel(), draw);
  return on_device(out, options.device());
}

}  // namespace

Stream::Stream(uint64_t seed) : key_(seed) {}

Stream Stream::split(uint64_t index) const { return Stream(philox::split(key_, index)); }
Stream Stream::split(std::string_view purpose) const { return Stream(philox::split(key_, purpose)); }

uint64_t Stream::bits(uint64_t i) const { return philox::bits(key_, i); }
double Stream::uniform(uint64_t i) const { return philox::uniform(key_, i); }
double Stream::normal(uint64_t i) const { return philox::normal(key_, i); }

at::Tensor Stream::uniform(at::IntArrayRef shape, const at::TensorOptions& options) const {
  constexpr const char* kUniform = "Stream::uniform";
  checked_type(options, kUniform);
  if (!options.device().is_cpu()) return uniform_of(key_, shape, options);
  return filled(shape, options, kUniform, [key = key_](uint64_t i) { return philox::uniforms(key, i); });
}

at::Tensor Stream::normal(at::IntArrayRef shape, const at::TensorOptions& options) const {
  constexpr const char* kNormal = "Stream::normal";
  if (checked_type(options, kNormal) == at::kFloat && !options.device().is_cpu())
    return normal_of(key_, shape, options);
  return filled(shape, options, kNormal, [key = key_](uint64_t i) { return philox::normals(key, i); });
}

at::Tensor Stream::permutation(int64_t n) const {
  if (!(n >= 0)) refuse("Stream::permutation", "n >= 0", std::to_string(n));
  at::Tensor out = at::arange(n, at::kLong);
  int64_t* p = out.mutable_data_ptr<int64_t>();
  // The remainder of 64 random bits is not exactly uniform, but its bias is below n / 2^64.
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(p[i], p[bits(static_cast<uint64_t>(i)) % (static_cast<uint64_t>(i) + 1)]);
  return out;
}

}  // namespace slimbayes
