#pragma once

#include <string>

namespace slimbayes {

/// Opens libtorch's library for CUDA, libtorch_cuda.so in the folder of the loaded libtorch_cpu.so, so that
/// libtorch finds it. Programs of slimbayes link libtorch_cpu alone: one build runs beside a libtorch with
/// CUDA and beside one without. Returns what keeps this process from using the library, as words for a
/// message; empty if it is open, also if somebody else has opened it (Python's `import torch` does). Repeated
/// calls give the answer of the first one.
///
/// libtorch asks once whether the library is there and keeps the answer: call it before the first question
/// about devices. A backward pass is such a question.
const std::string& open_cuda_library();

}  // namespace slimbayes
