#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// Several processes that fit one model together. Each has a number from 0, its rank. All of them call the
/// same functions in the same order, with tensors of the same shape and type, and each call waits for the
/// others. A result has the same bits on every rank, which torch's backend gloo sees to. The functions throw
/// RanksEnded if another process has ended, or does not answer within the time that the group was made with.
class SLIMBAYES_EXPORT Collective {
 public:
  virtual ~Collective() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;  // number of processes, at least 1

  /// Replace a contiguous tensor by the sum of the tensors of all ranks, or by the tensor of rank 0.
  virtual void sum(const at::Tensor& x) const = 0;
  virtual void broadcast(const at::Tensor& x) const = 0;

  /// Returns the tensors of all ranks, in the order of the ranks. x [...] -> [size, ...]
  virtual at::Tensor gather(const at::Tensor& x) const = 0;

  /// Returns how long this process has been in these functions so far, in seconds.
  virtual double seconds() const { return 0; }
};

/// Returns the collective of a process group of torch.distributed that this process belongs to, by the name
/// of the group (ProcessGroup.group_name in Python). Uses torch's own operators by their names: which backend
/// carries the numbers is the group's affair. Throws std::runtime_error at the first call if this libtorch
/// was built without torch.distributed, or knows no group of this name.
SLIMBAYES_EXPORT std::shared_ptr<const Collective> process_group(std::string name, int64_t rank,
                                                                 int64_t size);

/// Returns the bytes that rank 0 has; nothing if rank 0 gives nothing. Other ranks give what they like.
SLIMBAYES_EXPORT std::optional<std::vector<std::byte>> broadcast_bytes(
    const Collective& ranks, const std::optional<std::vector<std::byte>>& own);

/// Returns the number that rank 0 has.
SLIMBAYES_EXPORT int64_t broadcast_number(const Collective& ranks, int64_t own);
SLIMBAYES_EXPORT double broadcast_number(const Collective& ranks, double own);

/// Returns the texts of all ranks, in the order of the ranks.
SLIMBAYES_EXPORT std::vector<std::string> gather_texts(const Collective& ranks, const std::string& own);

/// Returns a text that tells another process of an exception, and the exception of such a text: of the same
/// kind (NumericalError, std::invalid_argument, Interrupted, std::bad_alloc, else std::runtime_error) and
/// message.
SLIMBAYES_EXPORT std::string failure_text(const std::exception_ptr& thrown);
SLIMBAYES_EXPORT std::exception_ptr failure_from(const std::string& text);

/// Runs `body`, which calls no collective, and throws on every rank if it throws on one: there what it threw,
/// elsewhere the same kind (NumericalError, std::invalid_argument, else std::runtime_error) with that message
/// and the rank. So no rank waits for one that has failed. Without ranks (nullptr) just runs `body`.
SLIMBAYES_EXPORT void on_all_ranks(const Collective* ranks, const std::function<void()>& body);

/// The same, where rank 0 throws for all and tells the user: the others throw RanksEnded, of which they say
/// nothing.
SLIMBAYES_EXPORT void together(const Collective* ranks, const std::function<void()>& body);

/// Returns the part of `n` rows in a row that belongs to a rank: the first, and one behind the last. The
/// parts of all ranks are of nearly equal size; some are empty if n < ranks.size().
SLIMBAYES_EXPORT std::pair<int64_t, int64_t> share_of(const Collective& ranks, int64_t n);

}  // namespace slimbayes
