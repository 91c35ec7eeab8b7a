#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {

// The texts of the library as the tool shows them. Each text passes through one of these exactly once, where
// it is printed: errors in print_error(), notes in log_line(), JSON in print(), help and descriptions where
// they are put together.

/// Notes that a command writes with tensors and without.
inline constexpr const char* kInterruptedNote =
    "the fit of this model was stopped before its end: it is the best so far (fit --resume goes on)";
inline constexpr const char* kOutsideHint = "; --keep-outside shows how far each row lies";

/// Returns a message with its options as flags, and without the names of functions.
inline std::string in_flags(std::string_view message) {
  return render_options(without_functions(message), OptionStyle::flags);
}

/// Returns a report with the options in its sentences (map_sentences) as flags. Other texts stay.
inline nlohmann::json with_flags(nlohmann::json report) {
  return map_sentences(std::move(report), [](const std::string& sentence) {
    return render_options(sentence, OptionStyle::flags);
  });
}

}  // namespace slimbayes::cli
