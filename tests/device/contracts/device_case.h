#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/method/method.h"

namespace slimbayes::simulated {

/// Returns the device that the contracts are about: the simulated one, or the one that the environment
/// variable SLIMBAYES_TEST_DEVICE names, such as "cuda". On a card numbers are rounded otherwise, and nothing
/// counts its work.
at::Device tested_device();
bool is_simulated();

/// A method on small data of one kind of input and one task.
struct DeviceCase {
  const MethodInfo* info;
  std::string data;  // "gaussian", "windows_lstm", ...
  std::function<Dataset(int64_t n, uint64_t seed)> rows;
  nlohmann::json options;  // of a fit of a few steps
  /// By how much answers may differ from the CPU's, relative to the largest number: 0, the same bits, but for
  /// networks whose kernels on the device are others than the CPU's (LSTM, attention), and for methods whose
  /// sums run in another order there.
  double tolerance = 0;
};

/// Returns a case for every method of the registry and every input and task that it takes.
const std::vector<DeviceCase>& device_cases();

/// Returns the case of a method with this data. There must be one.
const DeviceCase& device_case(const std::string& method, const std::string& data = "gaussian");

/// Makes a method from its options, as the registry does.
using Maker = std::function<std::unique_ptr<Method>(const nlohmann::json& options)>;
Maker maker_of(const DeviceCase& c);

/// Fits the method on the CPU and on the device, and returns a sentence on what is wrong there; "" if the
/// device gives the same answers, scores and file, nothing mixes devices and the host touches no memory of
/// the device. A method that does not compute on a device (MethodInfo::device) must leave it alone.
std::string fault_of(const DeviceCase& c, const Maker& make);

/// Stops fits on the device and goes on from their checkpoints, there and on the CPU. Returns a sentence if
/// the answers differ from those of a fit that is not stopped, or its file does where bits are the same; else
/// "".
std::string fault_of_resuming(const DeviceCase& c);

/// Returns the context of these fits on a device.
FitContext context_on(at::Device device);

Split split_of(const DeviceCase& c);

}  // namespace slimbayes::simulated
