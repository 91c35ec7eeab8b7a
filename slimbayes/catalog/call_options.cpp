#include "slimbayes/catalog/call_options.h"

namespace slimbayes {

void check_level(double level, std::string_view function) {
  static const OptionDoc doc = option_doc<RunOptions>("level");
  detail::check_option(doc, level, function);
}

}  // namespace slimbayes
