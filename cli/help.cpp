#include "cli/help.h"

#include <algorithm>

#include "cli/terminal.h"
#include "cli/usage.h"

namespace slimbayes::cli {
namespace {

/// Returns the footer of a command's help, wrapped to `width`. Sentences wrap at blanks. Example commands,
/// which are the indented lines, get a backslash at each line break, so that a shell accepts them as they
/// are.
std::string wrapped_footer(const std::string& footer, size_t width) {
  std::string out;
  for (const std::string& line : CLI::detail::split(footer, '\n'))
    out += wrapped(line, width, line.starts_with("  ") ? 4 : 0, line.starts_with("  ") ? " \\" : "") + "\n";
  return out;
}

class WrappingFormatter : public CLI::Formatter {
 public:
  WrappingFormatter() : width_(text_width()) { column_width(std::min<size_t>(34, 2 * width_ / 5)); }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string name = make_option_name(option, positional) + make_option_opts(option);
    if (2 + display_width(name) > width_)  // a long list of choices
      name = wrapped(CLI::detail::find_and_replace(name, ",", ", "), width_ - 2, 6);
    return beside(name, make_option_desc(option));
  }

  /// Returns the text that follows a flag's name in help: the placeholder of its value, or the words that it
  /// accepts.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return "";
    if (option->get_type_size() == 0) return CLI::Formatter::make_option_opts(option);  // takes no value
    const std::string type = option->get_type_name();  // for a list of words "KIND:{a,b}"
    const size_t words = type.find(":{");
    return " " + (words == std::string::npos ? type : type.substr(words + 1)) +
           (option->get_required() ? " (required)" : "");
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_expected_min() > 1 ? form_of(*option) : CLI::Formatter::make_option_usage(option);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return beside(command->get_display_name(true), command->get_description());
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), width_);
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return wrapped(CLI::Formatter::make_usage(app, std::move(name)), width_, 4);
  }

  std::string make_footer(const CLI::App* app) const override {
    return wrapped_footer(app->get_footer(), width_);
  }

 private:
  /// Returns one entry of help: the name in the left column and its description, wrapped, in the right one.
  std::string beside(const std::string& name, const std::string& description) const {
    const size_t room = width_ - std::min(width_ - 1, column_width_);
    std::stringstream out;
    CLI::detail::format_help(out, name, wrapped(description, room), column_width_);
    return out.str();
  }

  size_t width_;
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<WrappingFormatter>(); }

}  // namespace slimbayes::cli
