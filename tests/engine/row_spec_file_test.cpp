#include "slimbayes/engine/spec/row_spec_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace slimbayes::engine {
namespace {

using nlohmann::json;

/// A mixture of two candidates, one of them with a row scale, whose members share their features.
RowSpec sample() {
  LinearRows member;
  member.features.inputs = 2;
  member.head = {.constant = 0.5, .noise_var = 0.1, .weights = {1, 2}, .root = {1, 0, 0.5, 2}};
  member.head.largest = 3;
  CandidateRows plain{{{member}, {member}}, {}, {}, 0.75};
  CandidateRows scaled{{{member}}, {}, {}, 0.25};
  scaled.view = {.input_shift = {0, 1}, .input_scale = {1, 2}, .warp = TargetWarp::log, .seen_high = 4};
  scaled.spread = {
      .of_folds = true, .dof = 5, .centre = {0, 0, 0}, .spread = {1, 1, 1}, .weights = {1, 2, 3}};
  return {MixtureRows{.inputs = 2, .candidates = {plain, scaled}, .wrong_share = 0.01}};
}

/// The regression that store_rows() stored.
RowSpec read_rows(const json& stored, const TensorFile& file) {
  return std::get<RowSpec>(stored_rows(stored, file));
}

std::vector<double> answered(const RowModel& model, const std::vector<double>& x) {
  std::vector<double> out(static_cast<size_t>(model.numbers()));
  Doubles scratch(model.scratch());
  model.answer(x.data(), 1, out.data(), 1, scratch.data());
  return out;
}

TEST(StoredRows, GiveTheSameBits) {
  TensorFile file;
  const json stored = json::parse(store_rows(sample(), file).dump());
  const auto first = row_model(sample()), again = row_model(read_rows(stored, file));
  EXPECT_EQ(answered(*first, {0.3, -1}), answered(*again, {0.3, -1}));
  // Infinite numbers, which JSON lacks, come back.
  const RowSpec read = read_rows(stored, file);
  const auto& mixture = std::get<MixtureRows>(read.of);
  EXPECT_TRUE(std::isinf(mixture.candidates[0].spread.dof));
  EXPECT_EQ(mixture.candidates[1].view.warp, TargetWarp::log);
  EXPECT_FALSE(std::get<LinearRows>(mixture.candidates[0].members[0].of).features.network.has_value());
}

TEST(StoredRows, AreOfNumbersThatAFileMayHold) {
  EXPECT_TRUE(storable(sample()));  // with infinite degrees of freedom
  const auto broken = [](auto change) {
    RowSpec spec = sample();
    auto& candidate = std::get<MixtureRows>(spec.of).candidates[1];
    change(candidate, std::get<LinearRows>(candidate.members[0].of));
    return !storable(spec);
  };
  EXPECT_TRUE(broken([](auto&, LinearRows& member) { member.head.constant = NAN; }));
  EXPECT_TRUE(broken([](auto&, LinearRows& member) { member.head.largest = NAN; }));
  EXPECT_TRUE(broken([](auto&, LinearRows& member) { member.head.root[2] = INFINITY; }));
  EXPECT_TRUE(broken([](auto&, LinearRows& member) { member.features.values["w"] = {NAN}; }));
  EXPECT_TRUE(broken([](CandidateRows& candidate, auto&) { candidate.view.low = NAN; }));
}

TEST(StoredRows, HoldAnArrayOnce) {
  TensorFile file;
  file.tensors["posterior.mean"] = {StoredType::f64, {2}, std::vector<std::byte>(2 * sizeof(double))};
  const std::vector<double> weights = {1, 2};
  std::memcpy(file.tensors["posterior.mean"].bytes.data(), weights.data(), 2 * sizeof(double));
  const json stored = store_rows(sample(), file);
  const json& member = stored["rows"]["candidates"][0]["members"][0]["rows"];
  EXPECT_EQ(member["head"]["weights"], "posterior.mean");
  EXPECT_EQ(member["head"]["root"], stored["rows"]["candidates"][1]["members"][0]["rows"]["head"]["root"]);
}

TEST(StoredRows, RefuseWhatADamagedFileHas) {
  TensorFile file;
  const json stored = store_rows(sample(), file);
  const auto refused = [&](const char* path, const json& value) {
    json own = stored;
    own[json::json_pointer(path)] = value;
    EXPECT_ANY_THROW(row_model(read_rows(own, file))) << path;
  };
  refused("/kind", "forest");
  refused("/rows/inputs", -1);
  refused("/rows/inputs", 1e300);
  refused("/rows/inputs", 3);
  refused("/rows/candidates", json::array());
  refused("/rows/candidates/0/members", json::array());
  refused("/rows/candidates/0/view/warp", "sine");
  refused("/rows/candidates/1/spread/weights", "rows.none");
  refused("/rows/candidates/0/members/0/rows/features/inputs", 7);
  refused("/rows/candidates/0/members/0/rows/head/noise_var", "much");
  TensorFile broken = file;
  for (auto& [name, tensor] : broken.tensors)
    std::memset(tensor.bytes.data(), 0xff, tensor.bytes.size());  // NaN
  EXPECT_THROW(stored_rows(stored, broken), std::invalid_argument);
}

// A few bytes must not ask for r^2 numbers and r^3 operations.
TEST(RowModelOfASpec, NeedsAHeadForItsInducingPointsBeforeTheirKernel) {
  LinearRows rows;
  rows.features = {.inputs = 1, .network = NetworkSpec{}, .basis = "rbf", .rank = int64_t{1} << 20};
  rows.features.network->input = Shape{{1}};
  rows.features.values = {{"basis.inducing_points", std::vector<float>(size_t{1} << 20)},
                          {"basis.log_lengthscale", {0}},
                          {"basis.log_amplitude", {0}}};
  for (const size_t root : {size_t{0}, size_t{1}, size_t{1} << 20}) {
    rows.head.root.assign(root, 1.0);
    EXPECT_THROW(row_model({rows}), std::invalid_argument) << root;
  }
  LinearRows two = std::get<LinearRows>(std::get<MixtureRows>(sample().of).candidates[0].members[0].of);
  EXPECT_NO_THROW(row_model({two}));
  two.head.prior_var = 1;  // beside `largest`
  EXPECT_THROW(row_model({two}), std::invalid_argument);
}

TEST(StoredRows, RefuseASmallFileThatWouldFillTheMemory) {
  TensorFile file;
  json stored = store_rows(sample(), file);
  const size_t numbers = 1 << 20;
  file.tensors["rows.large"] = {StoredType::f64, {numbers}, std::vector<std::byte>(numbers * sizeof(double))};
  json member = stored["rows"]["candidates"][0]["members"][0];
  member["rows"]["head"]["root"] = "rows.large";
  for (int i = 0; i < 40; ++i) stored["rows"]["candidates"][0]["members"].push_back(member);
  EXPECT_THROW(stored_rows(stored, file), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes::engine
