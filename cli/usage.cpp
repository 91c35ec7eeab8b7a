// Error messages for a wrong command line, all in the form "expected ...; received ...". CLI11 words each
// kind of error differently; this file extracts the flag's name and the values from CLI11's message.
#include "cli/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

/// Returns the command with its positional arguments: "slimbayes predict MODEL DATA".
std::string command_form(const CLI::App& app) {
  std::string form = "slimbayes " + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) form += " " + form_of(*option);
  }
  return form;
}

/// Adds the flag to a validator's message: "expected X; received Y" becomes "expected X for FLAG; received
/// Y".
std::string with_flag(std::string message, const std::string& flag) {
  return message.insert(std::min(message.find("; received"), message.size()), " for " + flag);
}

std::string sentence(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = error.what(), form = command_form(app);
  const std::string before = text.substr(0, text.find(": "));
  const std::string after = text.substr(std::min(text.find(": "), text.size() - 2) + 2);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("expected `{}`; received no {}", form, text.substr(0, text.find(" is required")));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return fmt::format("expected `{}` and its flags; received '{}' too; leave it out", form,
                       foreign_text(after));
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return with_flag(after, before);
  if (after.starts_with("At least"))
    return fmt::format("expected `{}`; received {} {}", form, after.substr(after.rfind(' ') + 1), before);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return after.starts_with("At Most") ? fmt::format("expected {} once; received it {} times", before,
                                                      after.substr(after.rfind(' ') + 1))
                                        : fmt::format("expected a value of {}; received none", before);
  return fmt::format("expected flags that `slimbayes {}` can read; received others: {}", app.get_name(),
                     foreign_text(text));
}

}  // namespace

std::string form_of(const CLI::Option& positional) {
  const std::string name = positional.get_name();
  return positional.get_expected_min() > 1 ? fmt::format("{0} {0}...", name) : name;
}

CLI::Validator within(const std::string& what, const OptionDoc& doc) {
  const bool whole = doc.type == "integer";
  const Range range = doc.range.value();
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        double x = NAN;
        uint64_t integer = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
        const bool is_whole = error == std::errc() && end == text.data() + text.size();
        if (whole && is_whole) x = static_cast<double>(integer);
        const bool read = whole ? is_whole : CLI::detail::lexical_cast(text, x);
        if (read && contains(range, x)) return "";
        return fmt::format("expected {} {}; received '{}'", what, range_text(range, whole),
                           foreign_text(text));
      },
      "");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return "";
        return fmt::format("expected one of {}; received '{}'; {}", fmt::join(words, ", "),
                           foreign_text(text), nearest_hint(text, words));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

CLI::Validator byte_size() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::string given = text;
        try {
          if (CLI::AsSizeValue(false)(text).empty()) return "";
        } catch (const CLI::ValidationError&) {  // an unknown unit
        }
        return fmt::format("expected a size, such as 500M or 8G; received '{}'", foreign_text(given));
      },
      "");
}

std::string usage_text(const CLI::ParseError& error, const CLI::App& app) {
  return fmt::format("{}; see `slimbayes {} --help`", sentence(error, app), app.get_name());
}

}  // namespace slimbayes::cli
