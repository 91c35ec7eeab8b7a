#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/report.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {

int run_command(const GenerateRequest& r) {
  if (r.out != "-") check_writable(r.out);
  print_or_write(r.out, generate(r.name, r.rows, Stream(r.seed), r.amplitude));
  return kDone;
}

}  // namespace slimbayes::cli
