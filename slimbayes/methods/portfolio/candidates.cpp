#include "slimbayes/methods/portfolio/candidates.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/core/check.h"
#include "slimbayes/methods/portfolio/member_view.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

using nlohmann::json;

InputKind kind_of_rows(const Schema& schema) {
  if (schema.tokens > 0 || schema.input.tokens) return InputKind::text;
  if (schema.input.is_image()) return InputKind::images;
  return schema.input.is_sequence() ? InputKind::windows : InputKind::table;
}

bool has_option(const PortfolioEntry& entry, const std::string& name) {
  return std::ranges::find(find_method(entry.method).options, name, &OptionDoc::name) !=
         find_method(entry.method).options.end();
}

std::vector<PortfolioEntry> entries(const AutoOptions& options, const json& passed_on, TaskKind task,
                                    InputKind kind, int64_t n) {
  std::vector<PortfolioEntry> all;
  for (const std::string& name : candidate_names(options.candidates))
    all.push_back({find_method(name).name.c_str(), 1, 0, n});
  if (!all.empty()) return all;
  for (const PortfolioEntry& entry : portfolio(task, kind))
    if (n >= entry.least_rows && n <= entry.most_rows) all.push_back(entry);
  if (task != TaskKind::classification) return all;
  // An option that only a candidate for other inputs has, such as the rank of vbll, asks for this candidate.
  for (const auto& item : passed_on.items())
    for (const PortfolioEntry& entry : portfolio(task, InputKind::images))
      if (const auto has = [&](const PortfolioEntry& e) { return has_option(e, item.key()); };
          has(entry) && std::ranges::none_of(all, has))
        all.push_back(entry);
  return all;
}

/// Throws std::invalid_argument if one of the options for candidates would be ignored because none of these
/// has it.
void check_used(const json& passed_on, const std::vector<Candidate>& all, TaskKind task, int64_t rows) {
  for (const auto& item : passed_on.items()) {
    if (std::ranges::any_of(all, [&](const Candidate& c) { return c.options.contains(item.key()); }))
      continue;
    std::vector<std::string> names;
    for (const Candidate& c : all)
      if (std::ranges::find(names, c.method) == names.end()) names.push_back(c.method);
    refuse("auto",
           fmt::format("an option of a candidate for {} of {} rows ({})", name_of(task), rows,
                       fmt::join(names, ", ")),
           fmt::format("'{}'", foreign_text(item.key())), "name the `.method` that has it, or `.candidates`");
  }
}

/// Whether all rows of a regression have the same target.
bool is_constant(const Dataset& rows) {
  if (rows.schema.task.kind != TaskKind::regression || rows.size() == 0) return false;
  const at::Tensor target = rows.all().target;
  return target.min().equal(target.max());
}

/// Leaves the candidate that fits one answer to all rows, if there is one: the others would learn nothing
/// more from a constant target.
void keep_constant(std::vector<Candidate>& all) {
  const auto is_it = [](const Candidate& c) { return c.method == "constant" && c.warp == TargetWarp::none; };
  if (std::ranges::any_of(all, is_it)) std::erase_if(all, [&](const Candidate& c) { return !is_it(c); });
}

}  // namespace

std::string Candidate::label() const {
  return fmt::format("{}{}{}", method, network.empty() ? "" : " (" + network + ")",
                     warp == TargetWarp::log ? " of log y" : "");
}

bool Candidate::learns_all() const { return !find_method(method).needs_validation; }

std::vector<Candidate> candidates_for(const AutoOptions& options, const json& passed_on,
                                      const Dataset& rows) {
  const Schema& schema = rows.schema;
  const TaskKind task = schema.task.kind;
  const bool log = options.log_target != "never" && allows_log_target(rows);
  const InputKind kind = kind_of_rows(schema);
  check(options.log_target != "always" || log, "auto",
        "a target without negative values or bounds for `.log_target=always`", "another",
        "use `.log_target=auto`");
  std::vector<Candidate> all;
  for (const PortfolioEntry& entry : entries(options, passed_on, task, kind, rows.size())) {
    const MethodInfo& info = find_method(entry.method);
    if (!takes(info, task) || !takes(info, kind)) continue;
    json own = options_among(info, passed_on);
    const std::string network = entry.network;
    if (!network.empty()) {
      const std::vector<std::string> takers = networks_for(kind);
      if (own.contains("network") || std::ranges::find(takers, network) == takers.end()) continue;
      own["network"] = network;
    }
    Candidate one{info.name, info.resolve(own), TargetWarp::none, entry.copies, network};
    if (options.log_target != "always") all.push_back(one);
    one.warp = TargetWarp::log;
    if (log) all.push_back(std::move(one));
  }
  if (all.empty())
    refuse("auto", fmt::format("a candidate that takes {} of {}", name_of(task), name_of(kind)), "none",
           "name one of " + methods_taking(task, kind));
  check_used(passed_on, all, task, rows.size());
  if (options.candidates == "by-size" && is_constant(rows)) keep_constant(all);
  return all;
}

std::vector<MethodChoice> choices_of(const std::vector<Candidate>& candidates) {
  std::vector<MethodChoice> all;
  for (const Candidate& one : candidates) all.push_back({one.method, one.options});
  return all;
}

double seconds_for(const AutoOptions& options, int64_t n) {
  if (options.time_limit > 0) return options.time_limit;
  return 60 * std::pow(std::max(1.0, static_cast<double>(n) / 1000), 0.59);
}

}  // namespace slimbayes
