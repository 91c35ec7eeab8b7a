// What a fitted model gives to another one: its network, or its posterior after more or fewer examples.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/row_hash.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/target.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

namespace {

/// Returns the numbers that two sorted lists have in common, each as often as in both.
std::vector<int64_t> common(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

/// Returns the Model::data_hash() of a model that has learned these rows, whatever their order. Its length
/// does not grow with the number of updates.
std::string hash_of_learned(const std::vector<int64_t>& sorted) {
  return fmt::format("rows {:016x}", hash_of_rows(sorted));
}

}  // namespace

FitOptions with_network_from(const FitOptions& given) {
  if (given.network_from.empty()) return given;
  const Model source = Model::load(given.network_from);
  check(source.fitted().network() != nullptr, "network_from",
        "a model whose network ends in a linear output layer",
        fmt::format("{} by {}", in_quotes(given.network_from), source.method()),
        "--method dnn fits such a network to the data");
  check(given.method.empty() || find_method(given.method).takes_network, "network_from",
        "a method that starts from a trained network", given.method,
        methods_that(&MethodInfo::takes_network) + " take one (--method)");
  FitOptions fit = source.fit_options();
  fit.method = given.method.empty() ? default_method_of_network().name : given.method;
  fit.options = given.options;
  fit.seed = given.seed;
  fit.tune = given.tune;
  fit.level = given.level;
  fit.threads = given.threads;
  fit.network_from = given.network_from;
  fit.calibrate = given.calibrate;
  fit.calibration_fraction = given.calibration_fraction;
  fit.noise_folds = 0;  // its folds would know their held-out rows
  return fit;
}

void Model::check_changeable(const char* change) const {
  check(find_method(method_).updates, change, "a method with an exact posterior", method_,
        methods_that(&MethodInfo::updates) + " have one; fit this one again on all rows");
  check(calibration_.groups == 0, change, "a model without conformal calibration",
        "one whose calibration would not hold for the new posterior", "fit it without --calibrate");
}

std::vector<int64_t> Model::hashes_of(const Examples& rows, const Dataset& data) const {
  return by_cells_ ? row_hashes(data, cell_hashes(*encoder_, rows)) : row_hashes(data);
}

Model Model::changed(const Examples& given, Change change) const {
  check_changeable("update");
  const Examples rows = examples(given, true);
  check(count(rows) > 0, "update", "at least one row with a target", "none");
  check_targets(*encoder_, rows);
  const Dataset data = dataset_of(*encoder_, rows, true);
  Model out = *this;
  const std::vector<int64_t> in_order = hashes_of(rows, data);
  std::vector<int64_t> hashes = in_order;
  std::ranges::sort(hashes);
  out.learned_.clear();
  out.split_ = {};
  switch (change) {
    case Change::add:
      std::ranges::merge(learned_, hashes, std::back_inserter(out.learned_));
      out.fitted_ = fitted_->updated(data, {});
      break;
    case Change::remove: {
      std::vector<int64_t> unknown;
      std::ranges::set_difference(hashes, learned_, std::back_inserter(unknown));
      if (!unknown.empty()) {
        const auto first = std::ranges::find_if(
            in_order, [&](int64_t one) { return std::ranges::binary_search(unknown, one); });
        check(false, "forget", "rows that the model has learned",
              fmt::format("{} of {} that it has not, the first {}", unknown.size(), hashes.size(),
                          place_of(rows, first - in_order.begin())),
              "give rows of its training or of an update, with the same cells; validation and test rows were "
              "not learned (--on-unknown skip leaves them out)");
      }
      std::ranges::set_difference(learned_, hashes, std::back_inserter(out.learned_));
      out.fitted_ = fitted_->updated({}, data);
      break;
    }
    case Change::shard:
      out.learned_ = std::move(hashes);
      out.fitted_ = fitted_->prior()->updated(data, {});
      out.shard_ = true;
      break;
  }
  out.data_hash_ = hash_of_learned(out.learned_);
  return out;
}

Model Model::with(const Examples& examples) const { return changed(examples, Change::add); }
Model Model::without(const Examples& examples) const { return changed(examples, Change::remove); }
Model Model::shard(const Examples& examples) const { return changed(examples, Change::shard); }

int64_t Model::shared_rows(const Model& other) const { return std::ssize(common(learned_, other.learned_)); }

int64_t Model::known_rows(const Examples& given) const {
  const Examples rows_given = examples(given, true);
  std::vector<int64_t> hashes = hashes_of(rows_given, dataset_of(*encoder_, rows_given, true));
  std::ranges::sort(hashes);
  const auto is_new = [this](int64_t hash) { return !std::ranges::binary_search(learned_, hash); };
  const int64_t rows = std::ssize(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return rows - std::ranges::count_if(hashes, is_new);
}

Examples Model::learned_among(const Examples& given) const {
  check_changeable("forget");
  const Examples rows = examples(given, true);
  const std::vector<int64_t> hashes = hashes_of(rows, dataset_of(*encoder_, rows, true));
  std::vector<int64_t> sorted = hashes;
  std::ranges::sort(sorted);
  std::multiset<int64_t> left;
  for (int64_t hash : common(learned_, sorted)) left.insert(left.end(), hash);
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
  std::vector<int64_t> hashes = hashes_of(rows, dataset_of(*encoder_, rows, true));
  std::ranges::sort(hashes);
  return std::ranges::count_if(learned_,
                               [&](int64_t one) { return std::ranges::binary_search(hashes, one); });
}

Model Model::merged(const Model& other) const {
  check_changeable("merge");
  other.check_changeable("merge");
  check(method_ == other.method_, "merge", "models of one method", method_ + " and " + other.method_);
  check(
      to_json(*encoder_) == to_json(*other.encoder_), "merge", "models with the same columns, encoded alike",
      fmt::format("others in {} and {}", source_, other.source_), "make shards of one model: update --shard");
  check(by_cells_ == other.by_cells_, "merge", "models that know their rows in one way",
        "one that knows them by their cells, and one of an earlier version, by their encoding",
        "make shards of one model: update --shard");
  const size_t fewer = std::min(learned_.size(), other.learned_.size());
  check(fewer == 0 || shared_rows(other) < static_cast<int64_t>(fewer), "merge", "models of different rows",
        fmt::format("{} rows, all of which {} and {} have both learned", fewer, source_, other.source_),
        "a merge would count them twice; use the larger model, or make shards of other rows: update --shard");
  Model out = *this;
  out.learned_.clear();
  std::ranges::merge(learned_, other.learned_, std::back_inserter(out.learned_));
  out.fitted_ = fitted_->merged(*other.fitted_);
  out.data_hash_ = hash_of_learned(out.learned_);
  out.shard_ = shard_ && other.shard_;
  if (other.noise_.var > noise_.var) out.noise_ = other.noise_;  // the larger floor, in either order
  out.split_ = {};
  return out;
}

}  // namespace slimbayes
