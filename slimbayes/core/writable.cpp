#include "slimbayes/core/writable.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor writable(at::Tensor x) {
  // A storage that is not resizable lies in memory that somebody else owns, such as a mapped file.
  const bool sole = x.use_count() == 1 && x.storage().use_count() == 1 && x.storage().resizable();
  // A tensor of inference mode cannot be written after that mode ends.
  if (!sole || x.requires_grad() || x.is_inference()) return x.detach().clone();
  return x;
}

}  // namespace slimbayes
