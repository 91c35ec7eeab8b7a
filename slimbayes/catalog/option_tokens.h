#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

// How the texts of the library name an option. A front end has its own spelling of an option
// (--valid-fraction, valid_fraction=), so exceptions, notes and help texts hold a token instead: a dot and
// the name in backticks, `.valid_fraction`, or with a value `.calibrate=conformal`. A program in C++ shows
// it as it is: it reads as the field of an options struct. The tool and the Python package render each text
// once, where they print it or hand it over. Foreign text in a message is escaped by foreign_text()
// (storage/printable.h), so it never becomes an option.

/// How a front end spells an option: `--calibrate conformal` on a command line, `calibrate='conformal'` as
/// a keyword of Python. The options on the text of a file (`thousands`, `decimal`, `date_format`) are none of
/// Python's, whose data frames hold numbers and dates: there "in a text file, fit `.decimal=,`" becomes
/// "pandas.read_csv with decimal=','", and a format of dates "pandas.to_datetime with format";
/// `.rename` and `.fill` become DataFrame.rename and DataFrame.assign.
enum class OptionStyle { flags, keywords };

/// A part of a message: text as it is shown, or an option in the style of a front end.
struct MessagePart {
  std::string text;
  bool option = false;
};

/// Returns the parts of a message in their order, for a front end that sets options apart (as code in
/// HTML). A token whose name is not in option_names() stays text; the backticks that foreign_text() added
/// are removed.
SLIMBAYES_EXPORT std::vector<MessagePart> message_parts(std::string_view message, OptionStyle style);

/// Returns the message with each option in this style. It must not be applied twice: the first call removes
/// what protects foreign text from the second.
SLIMBAYES_EXPORT std::string render_options(std::string_view message, OptionStyle style);

/// Returns a report with its sentences replaced by what `render` makes of them: each text, and each text of a
/// list, whose key is one of those that hold sentences ("notes", "facts", "warnings", "doc" and others), at
/// any depth. All other texts, such as names of columns and classes, stay as they are.
SLIMBAYES_EXPORT nlohmann::json map_sentences(nlohmann::json report,
                                              const std::function<std::string(const std::string&)>& render);

/// Returns the names of all options that a message may name, with the types of their values as OptionDoc has
/// them: those of a fit, of its run, of all methods, and those of single calls such as `model` and `keep`.
SLIMBAYES_EXPORT const std::map<std::string, std::string, std::less<>>& option_names();

}  // namespace slimbayes
