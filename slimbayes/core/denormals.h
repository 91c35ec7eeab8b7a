#pragma once

namespace slimbayes {

/// Makes arithmetic treat denormal numbers (below 1.2e-38 in float32, 2.2e-308 in float64) as zero while an
/// object of this class lives, in the calling thread and in the threads of the tensor library. The destructor
/// restores the caller's setting; do not change the number of threads in between. Training uses it for speed:
/// the gradients of weights that no longer matter, and AdamW's moments of them, decay to denormal numbers,
/// with which a processor computes many times more slowly. Replacing such tiny numbers by zero does not
/// change the objective. On a processor without this setting the class has no effect.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  bool before_;  // whether the caller already treated denormals as zero
};

}  // namespace slimbayes
