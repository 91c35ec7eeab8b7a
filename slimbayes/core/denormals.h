#pragma once

namespace slimbayes {

/// Makes the processor take denormal numbers (below 1.2e-38 in float32, 2.2e-308 in float64) for zero, for
/// its lifetime: in the calling thread and in the threads of the tensor library. The destructor gives the
/// caller's setting back to them; do not change the number of threads within its lifetime. Training needs
/// it: gradients and AdamW's moments of weights that no longer matter decay to such numbers, and a processor
/// computes with them many times more slowly. No objective tells them from zero. Without effect on a
/// processor that has no such setting.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  bool before_;
};

}  // namespace slimbayes
