#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Returns the numbers of Stream::normal_float32 of the stream with this key, computed by tensor operations
/// on `device`. The random bits are those of the CPU, and so are the numbers where log, cos and sin of the
/// device are ATen's of the CPU.
at::Tensor normal_float32_of(uint64_t key, at::IntArrayRef shape, at::Device device);

/// Returns the numbers of Stream::normal of the stream with this key, computed by tensor operations in
/// float64 on the device of `options`, in their type, float64 or float32. They are those of the CPU up to the
/// rounding of float64.
at::Tensor normal_of(uint64_t key, at::IntArrayRef shape, const at::TensorOptions& options);

/// Returns the numbers of Stream::uniform of the stream with this key, computed by tensor operations on the
/// device of `options`, in their type, float64 or float32. They have the bits of the CPU.
at::Tensor uniform_of(uint64_t key, at::IntArrayRef shape, const at::TensorOptions& options);

}  // namespace slimbayes
