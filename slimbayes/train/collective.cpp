#include "slimbayes/train/collective.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

/// Returns what a failed message tells of the other process, in words of our own: those of the backend name
/// its source files and addresses.
std::string other_process(std::string text) {
  text = text.substr(0, text.find('\n'));
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (has("closed by peer") || has("reset by peer") || has("Broken pipe") || has("Connection refused"))
    return "one that has ended";
  if (has("imed out") || has("imeout")) return "one that has ended or hangs";
  if (const size_t end = text.find("] "); text.starts_with('[') && end != std::string::npos)
    text.erase(0, end + 2);
  return fmt::format("one that has ended or hangs ({})", text);
}

/// Runs one of torch's operators for process groups and waits for its result. The operator is called by its
/// name with boxed arguments, because the type of its last argument, the group's name, differs between
/// versions of torch.
at::Tensor run_collective(const char* name, std::vector<c10::IValue> arguments) {
  const auto of_torch = [](const std::string& of) {
    const auto found = c10::Dispatcher::singleton().findSchema({"_c10d_functional::" + of, ""});
    if (!found)
      throw std::runtime_error("[ranks] expected a libtorch with torch.distributed; received one without");
    return *found;
  };
  const c10::OperatorHandle asked = of_torch(name), waited = of_torch("wait_tensor");
  try {
    asked.callBoxed(&arguments);
    waited.callBoxed(&arguments);
  } catch (const std::exception& error) {
    throw RanksEnded(
        fmt::format("[ranks] expected an answer of every process; received none of {}; look for "
                    "its own message, and repeat the command, a fit with `.resume`",
                    other_process(error.what())));
  }
  return arguments.at(0).toTensor();
}

class ProcessGroup : public Collective {
 public:
  ProcessGroup(std::string name, int64_t rank, int64_t size)
      : name_(std::move(name)), rank_(rank), size_(size) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  void sum(const at::Tensor& x) const override { run("all_reduce_", {x, "sum", name_}); }
  void broadcast(const at::Tensor& x) const override { run("broadcast_", {x, int64_t{0}, name_}); }
  at::Tensor gather(const at::Tensor& x) const override {
    const at::Tensor flat = x.contiguous().view({1, -1});
    std::vector<int64_t> shape = x.sizes().vec();
    shape.insert(shape.begin(), size_);
    return run("all_gather_into_tensor", {flat, size_, name_}).view(shape);
  }
  double seconds() const override { return std::chrono::duration<double>(spent_).count(); }

 private:
  at::Tensor run(const char* name, std::vector<c10::IValue> arguments) const {
    const auto began = std::chrono::steady_clock::now();
    at::Tensor result = run_collective(name, std::move(arguments));
    spent_ += std::chrono::steady_clock::now() - began;
    return result;
  }

  std::string name_;
  int64_t rank_, size_;
  mutable std::chrono::steady_clock::duration spent_ = {};
};

at::Tensor tensor_of(const void* bytes, size_t count) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(count)}, at::kByte);
  if (count > 0) std::memcpy(tensor.mutable_data_ptr(), bytes, count);
  return tensor;
}

}  // namespace

std::shared_ptr<const Collective> process_group(std::string name, int64_t rank, int64_t size) {
  check(size >= 1 && 0 <= rank && rank < size, "process_group", "a rank below the number of processes",
        "another");
  return std::make_shared<ProcessGroup>(std::move(name), rank, size);
}

int64_t broadcast_number(const Collective& ranks, int64_t own) {
  const at::Tensor number = at::full({1}, own, at::kLong);
  ranks.broadcast(number);
  return number.item<int64_t>();
}

double broadcast_number(const Collective& ranks, double own) {
  const at::Tensor number = at::full({1}, own, at::kDouble);
  ranks.broadcast(number);
  return number.item<double>();
}

std::optional<std::vector<std::byte>> broadcast_bytes(const Collective& ranks,
                                                      const std::optional<std::vector<std::byte>>& own) {
  const bool first = ranks.rank() == 0;
  const int64_t size = broadcast_number(ranks, own ? std::ssize(*own) : int64_t{-1});
  if (size < 0) return {};
  const at::Tensor bytes = first ? tensor_of(own->data(), own->size()) : at::empty({size}, at::kByte);
  if (size > 0) ranks.broadcast(bytes);
  const auto* from = static_cast<const std::byte*>(bytes.const_data_ptr());
  return std::vector<std::byte>(from, from + size);
}

std::vector<std::string> gather_texts(const Collective& ranks, const std::string& own) {
  const at::Tensor sizes = ranks.gather(at::full({1}, std::ssize(own), at::kLong));
  const auto longest = std::max<int64_t>(1, sizes.max().item<int64_t>());
  const at::Tensor padded = at::zeros({longest}, at::kByte);
  std::memcpy(padded.mutable_data_ptr(), own.data(), own.size());
  const at::Tensor all = ranks.gather(padded);
  std::vector<std::string> texts;
  for (int64_t r = 0; r < ranks.size(); ++r)
    texts.emplace_back(static_cast<const char*>(all[r].const_data_ptr()),
                       static_cast<size_t>(sizes[r].item<int64_t>()));
  return texts;
}

// The kind as a letter, then the message; "" for none.
std::string failure_text(const std::exception_ptr& thrown) {
  if (!thrown) return "";
  try {
    std::rethrow_exception(thrown);
  } catch (const NumericalError& error) {
    return fmt::format("n{}", error.what());
  } catch (const std::invalid_argument& error) {
    return fmt::format("i{}", error.what());
  } catch (const DataError& error) {
    return fmt::format("i{}", error.what());
  } catch (const Interrupted& error) {
    return fmt::format("s{}", error.what());
  } catch (const std::bad_alloc&) {
    return "mout of memory; use fewer rows, a smaller model or a machine with more memory";
  } catch (const c10::Error& error) {  // what() would contain a backtrace
    if (refused_memory(error)) return failure_text(std::make_exception_ptr(std::bad_alloc()));
    const std::string text = error.what_without_backtrace();
    return fmt::format("o{}", text.substr(0, text.find('\n')));
  } catch (const std::exception& error) {
    return fmt::format("o{}", error.what());
  } catch (...) {
    return "oan unknown failure";
  }
}

std::exception_ptr failure_from(const std::string& text) {
  internal_check(!text.empty(), "failure_from", "the text of an exception");
  const std::string message = text.substr(1);
  switch (text.front()) {
    case 'n':
      return std::make_exception_ptr(NumericalError(message));
    case 'i':
      return std::make_exception_ptr(std::invalid_argument(message));
    case 's':
      return std::make_exception_ptr(Interrupted(message));
    case 'm':
      return std::make_exception_ptr(std::bad_alloc());
    default:
      return std::make_exception_ptr(std::runtime_error(message));
  }
}

void on_all_ranks(const Collective* ranks, const std::function<void()>& body) {
  if (ranks == nullptr) return body();
  std::exception_ptr thrown;
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  const at::Tensor failed = at::full({1}, thrown ? 1.0 : 0.0, at::kDouble);
  ranks->sum(failed);
  if (failed.item<double>() == 0) return;
  const std::vector<std::string> all = gather_texts(*ranks, failure_text(thrown));
  if (thrown) std::rethrow_exception(thrown);
  const auto first = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
  const char kind = first->front() == 'm' ? 'o' : first->front();  // bad_alloc has no message
  std::rethrow_exception(
      failure_from(fmt::format("{}rank {}: {}", kind, first - all.begin(), first->substr(1))));
}

void together(const Collective* ranks, const std::function<void()>& body) {
  try {
    on_all_ranks(ranks, body);
  } catch (const RanksEnded&) {
    throw;
  } catch (const std::exception& error) {
    if (ranks != nullptr && ranks->rank() > 0) throw RanksEnded(error.what());
    throw;
  }
}

std::pair<int64_t, int64_t> share_of(const Collective& ranks, int64_t n) {
  return {ranks.rank() * n / ranks.size(), (ranks.rank() + 1) * n / ranks.size()};
}

}  // namespace slimbayes
