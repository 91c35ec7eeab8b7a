// Finds the nesting depth in one scan of the text, without a JSON parser. The parser of nlohmann-json could
// count the depth in a callback. But with a callback it searches all children of the parent at the end of
// each object, so that its time is quadratic: 40 s for a list of 200,000 objects.
#include "slimbayes/storage/json_depth.h"

#include <cstddef>

namespace slimbayes {

bool nests_at_most(std::string_view json, int deepest) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;  // skips the escaped character, which does not end the string
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > deepest) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

}  // namespace slimbayes
