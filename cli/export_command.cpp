// export: writes a model with random weights as a dnn with one set of them (materialised()), or as an ONNX
// graph, for which it calls Python.
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/python.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/materialised.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {

namespace {

/// Throws std::invalid_argument for an output that is no file name, the model itself, or not writable.
void check_output(const std::string& model, const std::string& out) {
  check(out != "-", "export", "a file name for the model", "'-'", "a model is no text; name a file");
  if (std::filesystem::exists(out) && std::filesystem::equivalent(out, model))
    refuse("export", "another file than the model itself", fmt::format("'{}'", foreign_text(out)),
           "the model would be lost");
  check_writable(out);
}

int write_onnx(const ExportRequest& r) {
  check_output(r.model, r.onnx);
  check_one_target("export", r.model);
  // Without the working folder, whose files are no part of the package.
  std::vector<std::string> words = {
      "-c", "import sys; sys.path[:] = filter(None, sys.path); from slimbayes._onnx import main; main()"};
  if (r.level) words.insert(words.end(), {"--level", fmt::format("{}", *r.level)});
  if (r.encoded) words.emplace_back("--encoded");
  words.insert(words.end(), {"--", r.model, r.onnx});
  constexpr int kSaid = 3;  // of _onnx.py, which has printed why
  const int status = run_python(words);
  if (status == kSaid) return kMisuse;
  if (status != 0)
    throw std::runtime_error(fmt::format(
        "[export] expected a Python with slimbayes, onnx and onnxscript; received {}, which ended "
        "with status {}; install them, or name another by SLIMBAYES_PYTHON",
        in_quotes(python_name()), status));
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(r.onnx));
  if (r.json)
    print(nlohmann::json{{"onnx", r.onnx}, {"bytes", bytes}});
  else
    print(fmt::format("{}: an ONNX graph, {} bytes\n", shown(r.onnx), bytes));
  return kDone;
}

}  // namespace

int run_command(const ExportRequest& r) {
  check(!r.out.empty() || !r.onnx.empty(), "export", "--out or --onnx", "neither", "name the file to write");
  if (!r.onnx.empty()) return write_onnx(r);
  check_output(r.model, r.out);
  check_replaces_model("export", "--out", r.out);
  const FileLock lock(r.out);
  const Model model = load_model("export", r.model);
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
