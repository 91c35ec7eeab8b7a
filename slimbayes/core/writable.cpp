#include "slimbayes/core/writable.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor writable(at::Tensor x) {
  // A storage that is not resizable uses memory that somebody else owns, such as a mapped file, so it must
  // not be overwritten.
  const bool sole = x.use_count() == 1 && x.storage().use_count() == 1 && x.storage().resizable();
  // A tensor that was made in inference mode cannot be changed after that mode has ended.
  if (!sole || x.requires_grad() || x.is_inference()) return x.detach().clone();
  return x;
}

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& all) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& x : all) copies.push_back(x.clone());
  return copies;
}

}  // namespace slimbayes
