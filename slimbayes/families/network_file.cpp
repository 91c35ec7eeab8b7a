#include "slimbayes/families/network_file.h"

#include "slimbayes/core/stored.h"

namespace slimbayes {

TensorFile to_file(const NetworkFile& net) {
  TensorFile file;
  file.metadata["options"] = net.options.dump();
  file.metadata["network"] = to_json(net.spec).dump();
  file.metadata["summary"] = to_json(net.summary).dump();
  store(net.weights, file);
  return file;
}

NetworkFile network_file(const TensorFile& file) {
  return {stored_json(file, "options"), network_from_json(stored_json(file, "network")), weights_from(file),
          summary_from_json(stored_json(file, "summary"))};
}

}  // namespace slimbayes
