#include "slimbayes/train/failure.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/data/table/limits.h"

namespace slimbayes {

std::optional<std::string> failure_of(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const NumericalError& error) {
    return error.what();
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const OutOfMemory& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const c10::Error& error) {
    if (refused_memory(error)) return "out of memory";
    return {};
  } catch (...) {
    return {};
  }
}

bool is_numerical(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const NumericalError&) {
    return true;
  } catch (...) {
    return false;
  }
}

void throw_infinite_loss(double loss, int64_t first, int64_t last, int64_t steps, double rate) {
  const char* expected = first == last ? "a finite loss" : "finite losses and gradients";
  const std::string where =
      first == last ? fmt::format("at step {}", last) : fmt::format("in the steps {} to {}", first, last);
  throw NumericalError(fmt::format(
      "[train] expected {}; received {} {} of {}; lower the learning rate ({}) or look for extreme "
      "inputs",
      expected, loss, where, steps, rate));
}

namespace {

std::string no_room(std::string_view where, std::string_view what, at::Device device,
                    const c10::OutOfMemoryError& error) {
  std::string_view why = error.what_without_backtrace();
  why = why.substr(0, why.find('\n'));
  why = why.substr(0, why.find(". GPU"));  // the numbers of the whole card
  return fmt::format("[{}] expected room for {} in the memory of the device {}; received '{}'", where, what,
                     name_of(device), why);
}

}  // namespace

void throw_device_is_full(const c10::OutOfMemoryError& error, at::Device device, int64_t batch,
                          std::optional<int64_t> saved) {
  std::string text = no_room(
      "train", batch > 0 ? fmt::format("a batch of {} rows", batch) : "a pass over rows", device, error);
  if (batch > 1) text += fmt::format("; a fit with `.batch={}` takes about half of it", batch / 2);
  text += saved ? fmt::format("; nothing is lost: `.resume` with `.device=cpu` goes on from step {}", *saved)
                : "; `.device=cpu` fits on the processor";
  throw OutOfMemory(text);
}

void throw_device_is_full(const c10::OutOfMemoryError& error, at::Device device, std::string_view where) {
  throw OutOfMemory(no_room(where, "the network and its rows", device, error) +
                    (where == "fit"
                         ? "; give a smaller `.batch`, or `.device=cpu`"
                         : "; answer fewer rows at a time (PredictOptions::batch), or take `.device=cpu`"));
}

}  // namespace slimbayes
