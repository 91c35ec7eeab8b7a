#include "slimbayes/catalog/fields.h"

#include <fmt/format.h>

namespace slimbayes {

std::string fields_table(const std::vector<FieldDoc>& docs) {
  std::string table = "| field | type | what it means |\n|---|---|---|\n";
  for (const FieldDoc& doc : docs)
    table += fmt::format("| `{}` | {}{} | {} |\n", doc.path, doc.type, doc.optional ? ", may be absent" : "",
                         doc.doc);
  return table;
}

}  // namespace slimbayes
