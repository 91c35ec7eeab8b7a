#include "slimbayes/catalog/fit_options.h"

#include <stdexcept>

namespace slimbayes {

InputKind input_kind(const FitOptions& o) {
  const bool images = o.format != "auto" && o.format != "table";
  const int kinds = (o.window > 0) + !o.text.empty() + images;
  if (kinds > 1)
    throw std::invalid_argument(
        "[fit] expected one kind of input; received several of --window, --text and --format; leave all but "
        "one out");
  if (o.window == 0 && (!o.time.empty() || !o.group.empty()))
    throw std::invalid_argument(
        "[fit] expected --window with --time or --group; received none; --window 24 lets a forecast see 24 "
        "rows, --ignore keeps a column from being an input");
  if (images) return InputKind::images;
  if (!o.text.empty()) return InputKind::text;
  return o.window > 0 ? InputKind::windows : InputKind::table;
}

std::string image_format(const std::filesystem::path& path) {
  return path.filename().string().find("idx3") == std::string::npos ? "" : "idx";
}

}  // namespace slimbayes
