#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/report/chart.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/theory/rank_advice.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

constexpr size_t kNamedSpectra = 8;  // labels that fit below a chart
constexpr const char* kSpectrumColours[] = {"#2b6cb0", "#dd6b20", "#2f855a", "#b83280",
                                            "#6b46c1", "#975a16", "#4a5568", "#c53030"};

json advice_json(const MatrixAdvice& one) {
  json kept = json::array(), shares = json::array();
  for (const auto& [rank, share] : one.kept) kept.push_back({{"rank", rank}, {"energy", share}});
  for (const auto& [share, rank] : one.for_share) shares.push_back({{"energy", share}, {"rank", rank}});
  return {{"name", one.name},
          {"layer", one.layer},
          {"out", one.out},
          {"in", one.in},
          {"parameters", one.out * one.in},
          {"singular_values", one.values},
          {"kept", kept},
          {"ranks", shares},
          {"rank", one.rank},
          {"largest_saving_rank", one.largest_saving},
          {"saved", one.saved}};
}

json advice_json(const RankAdvice& advice, const std::string& method) {
  json matrices = json::array();
  for (const MatrixAdvice& one : advice.matrices) matrices.push_back(advice_json(one));
  json out = {{"method", method},
              {"energy", advice.energy},
              {"matrices", matrices},
              {"layer_ranks", advice.layer_ranks},
              {"source", "singular values of each matrix (Toure and Stephens, section 3.3)"}};
  out["rank"] = advice.rank > 0 ? json(advice.rank) : json();
  return out;
}

/// Returns the table of the energy that each rank keeps.
std::string energy_table(const RankAdvice& advice) {
  std::vector<int64_t> ranks;
  for (const MatrixAdvice& one : advice.matrices)
    for (const auto& kept : one.kept)
      if (std::ranges::find(ranks, kept.first) == ranks.end()) ranks.push_back(kept.first);
  std::ranges::sort(ranks);
  if (ranks.empty()) return "";
  std::vector<std::vector<Cell>> rows = {{{"energy kept at rank"}}};
  for (int64_t rank : ranks) rows[0].push_back({std::to_string(rank)});
  for (const MatrixAdvice& one : advice.matrices) {
    std::vector<Cell>& row = rows.emplace_back(std::vector<Cell>{{one.name}});
    for (int64_t rank : ranks) {
      const auto at = std::ranges::find(one.kept, rank, &std::pair<int64_t, double>::first);
      row.push_back({at == one.kept.end() ? "" : fmt::format("{:.4f}", at->second)});
    }
  }
  return text_table(std::move(rows)) + "\n";
}

std::string advice_table(const RankAdvice& advice) {
  std::vector<std::vector<Cell>> rows = {{{"matrix"}, {"size"}, {"parameters"}}};
  for (const auto& at : advice.matrices.front().for_share)
    rows[0].push_back({fmt::format("{:g} %", 100 * at.first)});
  for (const char* title : {"rank", "saves up to", "saved"}) rows[0].push_back({title});
  for (const MatrixAdvice& one : advice.matrices) {
    std::vector<Cell>& row = rows.emplace_back(std::vector<Cell>{
        {one.name}, {fmt::format("{} x {}", one.out, one.in)}, {std::to_string(one.out * one.in)}});
    for (const auto& at : one.for_share) row.push_back({std::to_string(at.second)});
    row.push_back({std::to_string(one.rank)});
    row.push_back({one.largest_saving > 0 ? std::to_string(one.largest_saving) : "none"});
    row.push_back({std::to_string(one.saved)});
  }
  return text_table(std::move(rows));
}

std::string suggestion(const RankAdvice& advice) {
  std::string text = fmt::format(
      "\n90 %, 95 %, 99 %: the least rank that keeps this share of the sum of squared singular values; rank: "
      "that of {:g} %\nsaves up to: the largest rank with fewer parameters than the matrix; saved: at the "
      "rank, negative if factors have more (random weights: counted on their means, a sd each comes on top)\n"
      "--rank: the largest of the ranks that save parameters, one for all matrices; --layer-ranks: one for "
      "each layer\n\n",
      100 * advice.energy);
  if (advice.rank == 0)
    text +=
        "no matrix has fewer parameters as factors of these ranks: a low-rank network saves nothing here\n";
  else
    text += fmt::format("--method low-rank --rank {}\n", advice.rank);
  return text + fmt::format("--method low-rank --layer-ranks {}\n", fmt::join(advice.layer_ranks, ","));
}

/// Draws the spectrum of each matrix, divided by its largest singular value, and the energy that ranks keep.
Chart spectra(const RankAdvice& advice) {
  Panel values{"Singular values", "divided by the largest", {}}, energy{"Energy kept", "by rank", {}};
  size_t longest = 1;
  for (size_t i = 0; i < advice.matrices.size(); ++i) {
    const MatrixAdvice& one = advice.matrices[i];
    if (one.values.front() == 0) continue;  // a matrix of zeros has no spectrum to draw
    const std::string label = i < kNamedSpectra ? one.name : "";
    Mark mark{Mark::Kind::line, label, kSpectrumColours[i % std::size(kSpectrumColours)], 1, {}, {}};
    Mark sums = mark;
    double all = 0, sum = 0;
    for (double value : one.values) all += value * value;
    for (size_t k = 0; k < one.values.size(); ++k) {
      sum += one.values[k] * one.values[k];
      mark.x.push_back(static_cast<double>(k + 1));
      mark.y.push_back(one.values[k] / one.values.front());
      sums.y.push_back(sum / all);
    }
    sums.x = mark.x;
    longest = std::max(longest, one.values.size());
    values.marks.push_back(std::move(mark));
    energy.marks.push_back(std::move(sums));
  }
  return {"Spectra of the matrices", "rank", "share", {0, static_cast<double>(longest) + 1}, {0, 1.02},
          {values, energy}};
}

void draw(const RankAdvice& advice, const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / "spectra.svg";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw DataError(folder, "expected a folder that can be made; " + failed.message());
  const std::string image = svg(spectra(advice));
  write_atomically(path, std::as_bytes(std::span(image)));
}

}  // namespace

int run_command(const RankAdviceRequest& r) {
  const Model model = load_model("rank-advice", r.model);
  log_interrupted(model);
  const RankAdvice advice = rank_advice(some_networks_of(model, "rank-advice"), r.energy);
  if (!r.plots.empty()) draw(advice, r.plots);
  if (r.json)
    print(advice_json(advice, model.method()));
  else
    print(energy_table(advice) + advice_table(advice) + suggestion(advice));
  return kDone;
}

}  // namespace slimbayes::cli
