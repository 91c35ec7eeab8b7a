#include "slimbayes/method/network_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <any>
#include <iterator>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr const char *kModuleArchive = "module", *kModuleLayer = "module_layer";
constexpr const char* kModuleHost = "module_host";  // there if the archive is the fingerprint of a HostModule
constexpr const char *kHead = "head", *kOwnNoise = "noise_var";

std::optional<ScriptNetwork> stored_module(const TensorFile& file) {
  if (!file.metadata.contains(kModuleLayer)) return {};
  const auto archive = file.tensors.find(kModuleArchive);
  if (archive == file.tensors.end() || archive->second.type != StoredType::u8)
    throw DataError("model file", fmt::format("holds no bytes '{}'", kModuleArchive));
  if (file.metadata.contains(kModuleHost)) {
    const auto* module = std::any_cast<ScriptNetwork>(&file.attached);
    if (module == nullptr)
      throw DataError("model file",
                      "holds a posterior without its module, which is a program of Python: give the module, "
                      "slimbayes.load(path, module=net)");
    check(
        module->archive() == archive->second.bytes && module->last_layer() == file.metadata.at(kModuleLayer),
        "model file", "the module that the posterior was made of", "another, or other weights");
    return *module;
  }
  return ScriptNetwork::from_bytes(archive->second.bytes, file.metadata.at(kModuleLayer));
}

}  // namespace

TensorFile to_file(const NetworkFile& net) {
  TensorFile file;
  file.metadata["options"] = net.options.dump();
  file.metadata[kHead] = to_json(net.head).dump();
  file.metadata["network"] = to_json(net.spec).dump();
  file.metadata["summary"] = to_json(net.summary).dump();
  store(net.weights, file);
  if (net.module) {
    const std::vector<std::byte>& archive = net.module->archive();
    file.metadata[kModuleLayer] = net.module->last_layer();
    file.tensors[kModuleArchive] = {StoredType::u8, {std::ssize(archive)}, archive};
    if (net.module->hosted()) {
      file.metadata[kModuleHost] = "1";
      file.attached = *net.module;
    }
  }
  return file;
}

NetworkFile network_file(const TensorFile& file) {
  if (!file.metadata.contains(kHead))
    throw DataError("model file", "was written by an earlier version of slimbayes; fit the model again");
  NetworkFile net{stored_json(file, "options"),
                  head_from_json(stored_json(file, kHead)),
                  network_from_json(stored_json(file, "network")),
                  weights_from(file),
                  summary_from_json(stored_json(file, "summary")),
                  stored_module(file)};
  net.weights.erase(kModuleArchive);
  if (net.module && net.module->weight().size(0) != net.head.outputs)
    refuse("model file", fmt::format("a module with the {} outputs of its head", net.head.outputs),
           "one with others", "the model file is damaged");
  return net;
}

Weights network_weights(const Weights& all) {
  Weights out;
  for (const auto& [name, weight] : all) {
    if (name.starts_with("network.")) out[name] = weight;
  }
  return out;
}

double stored_positive(const Network::Lookup& lookup, const std::string& name, std::string_view method) {
  const at::Tensor x = lookup(name);
  check_shape(x, {}, method, name);
  const double value = x.to(at::kDouble).item<double>();
  if (!(value > 0))
    refuse(method, "a number above 0 in " + name, fmt::format("{}", value), "the model file is damaged");
  return value;
}

void store_noise(double noise_var, Weights& weights) {
  weights[kOwnNoise] = at::full({}, noise_var, at::kDouble);
}

double stored_noise(const Weights& weights, const Head& head, std::string_view method) {
  return head.is_regression() ? stored_positive(as_type(weights, at::kDouble), kOwnNoise, method) : 0;
}

}  // namespace slimbayes
