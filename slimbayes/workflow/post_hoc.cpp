#include "slimbayes/workflow/post_hoc.h"

#include <string>

#include "slimbayes/core/check.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/registry.h"

namespace slimbayes {

namespace {

std::unique_ptr<Fitted> fitted_around(const ScriptNetwork& network, const Split& data,
                                      const std::string& method, const nlohmann::json& options,
                                      const Stream& stream) {
  check(!options.value("refit", false), method, "a module that is kept as it is", "refit",
        "join training and validation rows yourself");
  FitContext context{stream};
  context.start = std::make_shared<const TrainedNetwork>(trained_network(network, data, method));
  return registry_row(method).make(options)->fit(data, context);
}

}  // namespace

std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                 const RichBllOptions& options, const Stream& stream) {
  return fitted_around(network, data, "rich-bll", options_to_json(options), stream);
}

std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data, const BllOptions& options,
                            const Stream& stream) {
  return fitted_around(network, data, "bll", options_to_json(options), stream);
}

}  // namespace slimbayes
