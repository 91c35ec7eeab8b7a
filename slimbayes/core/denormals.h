#pragma once

namespace slimbayes {

/// While an object of this class lives, the processor treats denormal numbers (below 1.2e-38 in float32,
/// 2.2e-308 in float64) as zero, in the calling thread and in the threads of the tensor library. The
/// destructor restores the caller's setting; do not change the number of threads in between. Training uses it
/// because the gradients and AdamW's moments of weights that no longer matter decay to such numbers, with
/// which a processor computes many times more slowly; no objective changes if they are zero. It has no effect
/// on a processor without this setting.
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
