// Files that commands write and read: answers, models, data. Without tensors.
#include "cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/edge.h"
#include "cli/terminal.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

constexpr int kDigits = 9, kDigitsOfSd = 7, kEveryDigit = 17;

int exponent_of(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

/// Returns x with `digits` significant digits: rounded to the nearest number for side 0, down for -1, up for
/// 1.
double shortened(double x, int digits, int side) {
  if (!std::isfinite(x) || x == 0 || digits >= kEveryDigit) return x;
  const auto parsed = [&](double value) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
  };
  const double nearest = parsed(x);
  if (side == 0 || (side < 0 ? nearest <= x : nearest >= x)) return nearest;
  return parsed(nearest + side * std::pow(10.0, exponent_of(x) - digits + 1));
}

/// Rounds the numbers of a column to nine significant digits. A number next to a small sd keeps more: enough
/// to resolve the sd to seven digits. Lower bounds are rounded down and upper bounds up, so that rounding
/// never narrows an interval. `sd` holds the sd of each row; nullptr: the table has none. The first `prefix`
/// characters of the column's name are that of a target.
void shorten(Column& column, const std::vector<double>* sd, size_t prefix) {
  if (column.kind != ColumnKind::numeric) return;
  const std::string own = column.name.substr(std::min(prefix, column.name.size()));
  const auto is = [&](const std::string& name) { return own == name || own.starts_with(name + "_"); };
  const int side = is("lower") || is("region_lower") ? -1 : is("upper") || is("region_upper") ? 1 : 0;
  for (size_t i = 0; i < column.values.size(); ++i) {
    double& x = column.values[i];
    const bool beside_sd = sd != nullptr && std::isfinite((*sd)[i]) && (*sd)[i] > 0 && x != 0;
    const int of_sd = beside_sd ? exponent_of(x) - exponent_of((*sd)[i]) + kDigitsOfSd : 0;
    x = shortened(x, std::max(kDigits, of_sd), side);
  }
}

/// Returns whether the file is a model, judging by its name, else by its content: a model file starts with
/// the size of its header (8 bytes), then the header, whose first character is "{". Opens only regular files,
/// because reading from a pipe would consume its bytes.
bool is_model(const std::string& path) {
  constexpr size_t kHead = 9;
  if (std::filesystem::path(path).extension() == ".safetensors") return true;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  char head[kHead] = {};
  std::ifstream(path, std::ios::binary).read(head, kHead);
  uint64_t size = 0;
  for (size_t i = kHead - 1; i-- > 0;) size = size << 8 | static_cast<unsigned char>(head[i]);
  const uint64_t all = std::filesystem::file_size(path, unknown);
  return head[kHead - 1] == '{' && size > 0 && !unknown && size < all;
}

/// Prints data on stdout (data_for).
void print_data(std::string text) {
  if (!print_result(data_for(STDOUT_FILENO, std::move(text))))
    throw std::runtime_error("standard output could not be written; it is closed or its disk is full");
}

/// Rounds the numbers of the columns from `exact` on as shorten().
void shorten_from(size_t exact, Table& table) {
  std::map<std::string, std::vector<double>> sds;  // by what stands before "sd": "", or a target and a dot
  for (size_t i = exact; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (name == "sd" || name.ends_with(".sd")) sds[name.substr(0, name.size() - 2)] = table.columns[i].values;
  }
  for (size_t i = exact; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    auto own = sds.end();  // that of the longest prefix
    for (auto sd = sds.begin(); sd != sds.end(); ++sd)
      if (name.starts_with(sd->first) && (own == sds.end() || sd->first.size() > own->first.size())) own = sd;
    const bool none = own == sds.end();
    shorten(table.columns[i], none ? nullptr : &own->second, none ? 0 : own->first.size());
  }
}

}  // namespace

bool keeps_all_digits(const std::string& out) {
  std::string ending = std::filesystem::path(out).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".parquet" || ending == ".feather";
}

void print_or_write(const std::string& out, Table table, size_t exact) {
  if (!keeps_all_digits(out)) shorten_from(exact, table);
  if (out == "-")
    print_data(format_csv(table, ','));
  else
    write_table(out, table);
}

void print_rows(PredictionReport report, Table table, size_t exact) {
  shorten_from(exact, table);
  nlohmann::json head = fields_to_json(std::move(report));
  head.erase("rows");
  std::string text = head.dump();
  text.pop_back();  // the closing brace, which follows the rows
  print_data(text + ",\"rows\":[\n");
  format_json_rows(table, [](std::string_view piece) { print_data(std::string(piece)); });
  print_data("]}\n");
}

void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input) {
  std::error_code ignored;
  if (input.empty() || !std::filesystem::equivalent(out, input, ignored)) return;
  refuse(command, flag + " to be a file of its own", fmt::format("the input '{}'", foreign_text(input)),
         "choose another name");
}

void check_replaces_model(const std::string& command, const std::string& flag, const std::string& out) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(out, unknown) || is_model(out)) return;
  if (std::filesystem::file_size(out, unknown) == 0 || unknown) return;
  refuse(command, flag + " to be a new file or a model, which is replaced",
         fmt::format("'{}', a file of another kind", foreign_text(out)),
         "choose another name, or remove that file first");
}

void check_model_first(const std::string& command, const std::string& model, const std::string& data) {
  if (!is_model(model) && is_model(data))
    refuse(command, "the model file, then the data",
           fmt::format("'{}', then '{}'", foreign_text(model), foreign_text(data)), "swap them");
}

}  // namespace slimbayes::cli
