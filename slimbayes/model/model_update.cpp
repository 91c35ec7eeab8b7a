// Model::with, without, shard and merged: models that have learned more, fewer or other examples. Only the
// posterior changes; encoder, features and prior stay.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/rows/row_hash.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns the numbers that two sorted lists share, each as often as both lists contain it.
std::vector<int64_t> common(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

/// Returns the data hash (Model::data_hash()) of a model that has learned rows with these sorted hashes. It
/// does not depend on the order in which they were learned, and its length does not grow with the updates.
std::string hash_of_learned(const std::vector<int64_t>& sorted) {
  return fmt::format("rows {:016x}", hash_of_rows(sorted));
}

}  // namespace

const ExactPosterior& Model::changeable(const char* change) const {
  const ExactPosterior* posterior = parts_.fitted->exact_posterior();
  if (!(posterior != nullptr && find_method(parts_.method).updates))
    refuse(change, "a method with an exact posterior", parts_.method,
           methods_that(&MethodInfo::updates) + " have one; fit this one again on all rows");
  if (!parts_.fit.weights.empty())
    refuse(change, "a model that was fitted without weights",
           fmt::format("one with `.weights={}`, whose posterior does not know by what weight it would learn "
                       "or forget a row",
                       foreign_text(parts_.fit.weights)),
           "fit it again on all rows");
  const bool follows = parts_.adaptive && std::string_view(change) == "update";
  check(follows || parts_.calibration.groups == 0, change, "a model without conformal calibration",
        "one whose calibration would not hold for the new posterior", "fit it without `.calibrate`");
  return *posterior;
}

std::vector<int64_t> Model::hashes_of(const Examples& rows, const Dataset& data) const {
  return row_hashes(data, cell_hashes(*parts_.encoder, rows));
}

Model Model::changed(const Examples& given, Change change) const {
  const bool advances = parts_.adaptive && change == Change::add;
  if (parts_.adaptive && !advances)
    refuse("update", "a model without `.calibrate=adaptive` for a shard or to forget rows",
           "one whose intervals follow the targets in the order of time", "update it with new rows");
  if (!advances) changeable("update");
  const Examples rows = examples(given, true);
  check(count(rows) > 0, "update", "at least one row with a target", "none");
  check_targets(*parts_.encoder, rows);
  std::optional<AdaptiveScores> adaptive;
  if (advances) adaptive = advanced(*parts_.adaptive, scores_in_time(*this, rows));
  if (advances && !learns_rows(*this)) {
    ModelParts out = parts_;
    out.adaptive = std::move(adaptive);
    return Model(std::move(out));
  }
  const ExactPosterior& posterior = changeable("update");
  const Dataset data = dataset_of(*parts_.encoder, rows, true);
  ModelParts out = parts_;
  out.adaptive = std::move(adaptive);
  const std::vector<int64_t> in_order = hashes_of(rows, data);
  std::vector<int64_t> hashes = in_order;
  std::ranges::sort(hashes);
  out.learned.clear();
  out.split = {};
  switch (change) {
    case Change::add:
      std::ranges::merge(parts_.learned, hashes, std::back_inserter(out.learned));
      out.fitted = posterior.updated(data, {});
      break;
    case Change::remove: {
      std::vector<int64_t> unknown;
      std::ranges::set_difference(hashes, parts_.learned, std::back_inserter(unknown));
      if (!unknown.empty()) {
        const bool listed = std::ssize(parts_.learned) >= parts_.fitted->summary().rows;
        const auto first = std::ranges::find_if(
            in_order, [&](int64_t one) { return std::ranges::binary_search(unknown, one); });
        refuse("forget", "rows that the model has learned",
               fmt::format("{} of {} that it has not, the first {}", unknown.size(), hashes.size(),
                           place_of(rows, first - in_order.begin())),
               listed
                   ? "give rows of its training or of an update, with the same cells; validation and test "
                     "rows were not learned (`.on_unknown=skip` leaves them out)"
                   : "a fit of rows on disk (`.cache`) keeps no list of them: of such a model only the rows "
                     "of an update can be forgotten; fit again without the others");
      }
      std::ranges::set_difference(parts_.learned, hashes, std::back_inserter(out.learned));
      out.fitted = posterior.updated({}, data);
      break;
    }
    case Change::shard:
      out.learned = std::move(hashes);
      out.fitted = posterior.prior()->updated(data, {});
      out.shard = true;
      break;
  }
  out.data_hash = hash_of_learned(out.learned);
  return Model(std::move(out));
}

Model Model::with(const Examples& examples) const { return changed(examples, Change::add); }
Model Model::without(const Examples& examples) const { return changed(examples, Change::remove); }
Model Model::shard(const Examples& examples) const { return changed(examples, Change::shard); }

int64_t Model::shared_rows(const Model& other) const {
  return std::ssize(common(parts_.learned, other.parts_.learned));
}

int64_t Model::known_rows(const Examples& given) const {
  const Examples rows_given = examples(given, true);
  std::vector<int64_t> hashes = hashes_of(rows_given, dataset_of(*parts_.encoder, rows_given, true));
  std::ranges::sort(hashes);
  const auto is_new = [this](int64_t hash) { return !std::ranges::binary_search(parts_.learned, hash); };
  const int64_t rows = std::ssize(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return rows - std::ranges::count_if(hashes, is_new);
}

Examples Model::learned_among(const Examples& given) const {
  changeable("forget");
  const Examples rows = examples(given, true);
  const std::vector<int64_t> hashes = hashes_of(rows, dataset_of(*parts_.encoder, rows, true));
  std::vector<int64_t> sorted = hashes;
  std::ranges::sort(sorted);
  std::multiset<int64_t> left;
  for (int64_t hash : common(parts_.learned, sorted)) left.insert(left.end(), hash);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < std::ssize(hashes); ++i) {
    const auto found = left.find(hashes[static_cast<size_t>(i)]);
    if (found == left.end()) continue;
    left.erase(found);
    places.push_back(i);
  }
  return take(rows, places);
}

int64_t Model::learned_like(const Examples& given) const {
  const Examples rows = examples(given, true);
  std::vector<int64_t> hashes = hashes_of(rows, dataset_of(*parts_.encoder, rows, true));
  std::ranges::sort(hashes);
  return std::ranges::count_if(parts_.learned,
                               [&](int64_t one) { return std::ranges::binary_search(hashes, one); });
}

Model Model::merged(const Model& other) const {
  const ExactPosterior& posterior = changeable("merge");
  const ExactPosterior& theirs = other.changeable("merge");
  if (parts_.method != other.parts_.method)
    refuse("merge", "models of one method", parts_.method + " and " + other.parts_.method);
  if (to_json(*parts_.encoder) != to_json(*other.parts_.encoder))
    refuse("merge", "models with the same columns, encoded alike",
           fmt::format("others in {} and {}", foreign_text(parts_.source), foreign_text(other.parts_.source)),
           "make shards of one model: update `.shard`");
  const size_t fewer = std::min(parts_.learned.size(), other.parts_.learned.size());
  if (!(fewer == 0 || shared_rows(other) < static_cast<int64_t>(fewer)))
    refuse("merge", "models of different rows",
           fmt::format("{} rows, all of which {} and {} have both learned", fewer,
                       foreign_text(parts_.source), foreign_text(other.parts_.source)),
           "a merge would count them twice; use the larger model, or make shards of other rows: update "
           "`.shard`");
  ModelParts out = parts_;
  out.learned.clear();
  std::ranges::merge(parts_.learned, other.parts_.learned, std::back_inserter(out.learned));
  out.fitted = posterior.merged(theirs);
  out.data_hash = hash_of_learned(out.learned);
  out.shard = parts_.shard && other.parts_.shard;
  if (other.parts_.noise.var > parts_.noise.var)
    out.noise = other.parts_.noise;  // the larger, whichever model is `other`
  out.split = {};
  return Model(std::move(out));
}

}  // namespace slimbayes
