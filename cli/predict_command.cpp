#include <ATen/ATen.h>
#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {

int run_command(const PredictRequest& r) {
  if (r.out != "-") {
    check_not_input("predict", "--out", r.out, r.data);
    check_not_input("predict", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const TableModel model = TableModel::load(r.model);
  const Table data = read_table(r.data);
  const Regression p = model.predict(data);
  const Interval bounds = model.interval(p, r.level);
  Table answer;
  answer.rows = data.rows;
  answer.columns = {column("mean", p.mean),
                    column("sd", total_var(p).sqrt()),
                    column("sd_aleatoric", p.aleatoric_var.sqrt()),
                    column("sd_epistemic", p.epistemic_var.sqrt()),
                    column("lower", bounds.lower),
                    column("upper", bounds.upper)};
  print_or_write(r.out, answer);
  for (const std::string& note : model.encoder().notes_for(data)) log_line("note: " + note);
  if (p.zeroed > 0)
    log_line(fmt::format("note: rounding made {} epistemic variances negative; they are 0", p.zeroed));
  if (!find_method(model.method()).splits_uncertainty) {
    log_line(fmt::format(
        "note: {} is trained for sd and the interval; read nothing into sd_aleatoric and sd_epistemic apart",
        model.method()));
  }
  return kDone;
}

}  // namespace slimbayes::cli
