// export: writes a model with random weights as a dnn with one set of them (materialised()).
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/materialised.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {

int run_command(const ExportRequest& r) {
  check(r.out != "-", "export", "a file name for the model", "'-'", "a model is no text; name a file");
  if (std::filesystem::exists(r.out) && std::filesystem::equivalent(r.out, r.model))
    refuse("export", "another file than the model itself", fmt::format("'{}'", foreign_text(r.out)),
           "its random weights would be lost");
  check_replaces_model("export", "--out", r.out);
  check_writable(r.out);
  const FileLock lock(r.out);
  const Model model = Model::load(r.model);
  log_interrupted(model);
  const Model written = materialised(model, r.draw);
  if (model.calibration().groups > 0)
    log_note("the conformal calibration of the model does not hold for one set of weights and is left out");
  log_note("the answers have no epistemic uncertainty: one network cannot disagree with itself");
  written.save(r.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(r.out)),
             from = static_cast<int64_t>(std::filesystem::file_size(r.model));
  if (r.json)
    print(nlohmann::json{{"model", r.out},
                         {"method", written.method()},
                         {"of", model.method()},
                         {"draw", r.draw},
                         {"bytes", bytes},
                         {"bytes_of_model", from}});
  else
    print(
        fmt::format("{}: a dnn with {} of a {}, {} bytes ({}: {})\n", shown(r.out),
                    r.draw == 0 ? "the centre of the weights" : fmt::format("draw {} of the weights", r.draw),
                    model.method(), bytes, shown(r.model), from));
  return kDone;
}

}  // namespace slimbayes::cli
