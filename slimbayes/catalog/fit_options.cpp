#include "slimbayes/catalog/fit_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

InputKind input_kind(const FitOptions& o) {
  const bool images = o.format != "auto" && o.format != "table";
  const int kinds = (o.window > 0) + !o.text.empty() + images;
  if (kinds > 1)
    throw std::invalid_argument(
        "[fit] expected one kind of input; received several of `.window`, `.text` and `.format`; leave all "
        "but "
        "one out");
  if (o.window == 0 && ((!o.time.empty() && o.split != "time") || !o.group.empty()))
    throw std::invalid_argument(
        "[fit] expected `.window` with `.time` or `.group`; received none; `.window=24` lets a forecast see "
        "24 rows, `.split=time` holds out the latest rows by `.time`, `.ignore` keeps a column from being an "
        "input");
  if (images) return o.format == "camvid" ? InputKind::segmentation : InputKind::images;
  if (!o.text.empty()) return InputKind::text;
  return o.window > 0 ? InputKind::windows : InputKind::table;
}

std::vector<std::string> ignored_columns(const FitOptions& o) {
  std::vector<std::string> names = o.ignore;
  if (!o.weights.empty() && std::ranges::find(names, o.weights) == names.end()) names.push_back(o.weights);
  return names;
}

std::vector<std::string> marks_of(const FitOptions& o) {
  std::vector<std::string> marks;
  for (const std::string& list : o.na) std::ranges::copy(split_list(list), std::back_inserter(marks));
  std::erase(marks, "");
  return marks;
}

namespace {

/// Returns whether this kind of input ignores the option, although other options of the same section matter
/// to it. A text has only one input column, so options on input columns do nothing; only rows of a table can
/// be events or have wild cells, so `domain` and `wild_cells` do nothing for the other kinds.
bool has_no_effect(std::string_view option, InputKind kind) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, option) != names.end();
  };
  if (kind == InputKind::text && is_one_of({"ignore", "categorical", "scale", "scale_on"})) return true;
  return kind != InputKind::table && is_one_of({"domain", "wild_cells"});
}

}  // namespace

void check_sections(const FitOptions& o, InputKind kind) {
  const nlohmann::json given = options_to_json(o);
  for (const OptionDoc& doc : option_docs<FitOptions>()) {
    const std::string_view section = doc.section;
    const bool by_time = doc.name == "time" && o.split == "time" && !are_images(kind);
    const bool foreign = (section == kWindowSection && kind != InputKind::windows && !by_time) ||
                         (section == kTextSection && kind != InputKind::text) ||
                         (section == kImageSection && !are_images(kind) && doc.name != "format") ||
                         (section == kColumnSection && are_images(kind)) || has_no_effect(doc.name, kind);
    if (!foreign || given.at(doc.name) == doc.fallback) continue;
    throw std::invalid_argument(fmt::format(
        "[fit] expected options of {} input; received `.{}`, which belongs to '{}'; leave it out{}",
        name_of(kind), doc.name, section,
        section == kWindowSection  ? ", or add `.window`"
        : section == kTextSection  ? ", or add `.text`"
        : section == kImageSection ? ", or name the images' `.format`"
                                   : ""));
  }
}

void check_fractions(const FitOptions& o) {
  const auto fraction = [](double share, const char* name, bool zero) {
    if (share < 1 && (share > 0 || (zero && share == 0))) return;
    throw std::invalid_argument(fmt::format("[fit] expected {} {} 0 and below 1; received {}; 0.1 is usual",
                                            name, zero ? "of at least" : "above", share));
  };
  fraction(o.valid_fraction, "a valid_fraction", true);
  fraction(o.test_fraction, "a test_fraction", true);
  if (o.calibrate != "none") fraction(o.calibration_fraction, "a calibration_fraction", false);
  if (!(o.pixel_divisor == 0 || (o.pixel_divisor >= 1 && o.pixel_divisor <= 255)))
    throw std::invalid_argument(fmt::format(
        "[fit] expected a pixel_divisor of 0, or from 1 to 255; received {}; 255 is usual", o.pixel_divisor));
}

std::string image_format(const std::filesystem::path& path) {
  if (path.filename().string().find("idx3") != std::string::npos) return "idx";
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return "";  // reading a pipe would take its bytes
  std::string head(kIdxImages.size(), ' ');
  std::ifstream(path, std::ios::binary).read(head.data(), std::ssize(head));
  return head == kIdxImages ? "idx" : "";
}

bool is_table_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      kTableEndings, [&](std::string_view end) { return name.size() > end.size() && name.ends_with(end); });
}

bool is_packed_data(const std::filesystem::path& path) {
  return path.extension() == ".gz" && !is_table_name(path);
}

std::string detail::likelihood_help() {
  return fmt::format(
      "distribution of the target. gaussian: numbers; student: numbers with heavy tails, for {}; bernoulli, "
      "softmax: classes; poisson: counts; negative-binomial: counts that vary more, zero-inflated-poisson: "
      "counts with more zeros, both for {}; cox: each row is an event; auto: text, booleans and columns of "
      "two "
      "different whole numbers are classes, other numbers gaussian. It holds for all of several targets",
      methods_that(&MethodInfo::student), methods_that(&MethodInfo::dispersed));
}

std::string detail::share_network_help() {
  return fmt::format(
      "for several targets of numbers: one network with an output for each is trained in place of one a "
      "target. The methods that start from a trained network take it: {}",
      methods_that(&MethodInfo::takes_network));
}

std::string detail::network_from_help() {
  std::string trainers;
  for (const MethodInfo& info : method_catalog())
    if (!info.trains_on.empty()) trainers += (trainers.empty() ? "" : ", ") + info.name;
  return fmt::format(
      "model file of an earlier fit. The new fit takes its trained network, its target and columns and, on "
      "the same data, its split. The method {} trains the network further; the others keep it as it is and "
      "add their own posterior",
      trainers);
}

}  // namespace slimbayes
