// What a certificate says of the encoder, of --tune and of the rows, for models of the same small network.
#include "slimbayes/theory/certificate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/storage/error.h"
#include "tests/fit/steps_tables.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;
using Status = Assumption::Status;
using nlohmann::json;

/// Returns a model of a small low-rank network, with this change of its options.
Model low_rank(
    const std::function<void(FitOptions&)>& change = [](FitOptions&) {},
    const std::string& method = "low-rank") {
  FitOptions fit = small(method);
  fit.options = {{"steps", 20}, {"hidden", 4}, {"blocks", 1}, {"network", "mlp"}, {"rank", 1}};
  fit.test_fraction = 0.2;
  change(fit);
  return fit_model(steps(120), fit);
}

Certificate certificate(const Model& model, const std::string& part, int64_t tried = 1) {
  const Examples rows = part.empty() ? Examples(steps(40, 9)) : part_of(model, steps(120), part);
  const BoundRows encoded{dataset_of(model.encoder(), rows, /*with_target=*/true), part};
  return certificate_of(model, networks_of(model).at(0), encoded, {0.05, 3, tried, 2});
}

/// Returns the status of the one assumption whose text contains `words`.
Status status(const Certificate& found, const std::string& words) {
  std::vector<Status> all;
  for (const Assumption& one : found.assumptions)
    if (one.text.find(words) != std::string::npos) all.push_back(one.status);
  EXPECT_EQ(all.size(), 1u) << words;
  return all.empty() ? Status::unknown : all.front();
}

/// Returns the model with this report of --tune in its file.
Model tuned(const Model& model, const json& report) {
  TensorFile file = model.to_file();
  file.metadata["tuning"] = report.dump();
  return Model::from_file(file, "tuned.safetensors");
}

/// Returns a report of four combinations, with two priors.
json two_priors() {
  json tried = json::array();
  for (const double sd : {0.1, 1.0})
    for (const double beta : {0.0, 1.0})
      tried.push_back({{"weight_prior_sd", sd}, {"beta", beta}, {"valid_nll", 1}});
  return {{"options", {"weight_prior_sd", "beta"}}, {"combinations", 4}, {"tried", tried}};
}

TEST(Certificate, TheEncoderHasSeenTheTrainingRowsAlone) {
  const Model model = low_rank();
  EXPECT_EQ(status(certificate(model, "train"), "the encoder"), Status::violated);
  for (const char* part : {"valid", "test"})
    EXPECT_EQ(status(certificate(model, part), "the encoder"), Status::holds);
  EXPECT_EQ(status(certificate(model, ""), "the encoder"), Status::unknown);
  for (const char* part : {"train", "valid"}) EXPECT_FALSE(certificate(model, part).held_out);
  for (const char* part : {"test", ""}) EXPECT_TRUE(certificate(model, part).held_out);
}

TEST(Certificate, ScalesOfEveryRowViolateItForEveryPart) {
  const Model model = low_rank([](FitOptions& fit) { fit.scale_on = "all"; });
  for (const char* part : {"train", "valid", "test"}) {
    const Certificate found = certificate(model, part);
    EXPECT_EQ(status(found, "the encoder"), Status::violated) << part;
    EXPECT_FALSE(found.certified());
    EXPECT_FALSE(found.held_out);
  }
  EXPECT_EQ(status(certificate(model, ""), "the encoder"), Status::unknown);
}

TEST(Certificate, AnEncoderOfAnotherModelIsUnknown) {
  const fs::path path = fs::path(testing::TempDir()) / ("certificate" + std::to_string(::getpid()));
  FitOptions plain = small("dnn");
  plain.options["network"] = "mlp";
  plain.test_fraction = 0.2;
  fit_model(steps(120), plain).save(path);
  FitOptions around;
  around.method = "low-rank-svd";
  around.options = {{"steps", 20}, {"rank", 1}};
  around.network_from = path.string();
  const Model model = fit_model(steps(120), with_network_from(around));
  fs::remove(path);
  EXPECT_EQ(status(certificate(model, "train"), "the encoder"), Status::violated);
  for (const char* part : {"valid", "test"}) {
    const Certificate found = certificate(model, part);
    EXPECT_EQ(status(found, "the encoder"), Status::unknown) << part;
    EXPECT_FALSE(found.held_out);
  }
}

TEST(Certificate, TuningOfThePosteriorAloneCostsNothing) {
  const json report = {{"options", {"beta"}},
                       {"combinations", 2},
                       {"tried", {{{"beta", 0}, {"valid_nll", 1}}, {{"beta", 1}, {"valid_nll", 2}}}}};
  const Model model = tuned(low_rank(), report);
  for (const char* part : {"train", "valid", "test", ""})
    EXPECT_EQ(status(certificate(model, part), "`.tune`"), Status::holds) << part;
}

TEST(Certificate, TunedPriorsAreCountedWhereTheSearchSawTheRows) {
  const Model model = tuned(low_rank(), two_priors());
  for (const char* part : {"train", "valid"}) {
    EXPECT_EQ(status(certificate(model, part), "`.tune` tried 2"), Status::violated) << part;
    EXPECT_EQ(status(certificate(model, part, 2), "`.tune` tried 2"), Status::holds) << part;
  }
  EXPECT_EQ(status(certificate(model, "test"), "not by these"), Status::holds);
  EXPECT_TRUE(certificate(model, "test").certified());
  EXPECT_EQ(status(certificate(model, ""), "`.tune` tried 2"), Status::unknown);
}

TEST(Certificate, RefusesRowsWithWeights) {
  const Model model = low_rank();
  const Dataset rows = dataset_of(model.encoder(), Examples(steps(40, 9)), /*with_target=*/true);
  const BoundRows heavy{weighted(rows, at::full({40}, 2.0, at::kDouble)), ""};
  EXPECT_THROW(certificate_of(model, networks_of(model).at(0), heavy, {0.05, 3, 1, 2}),
               std::invalid_argument);
}

TEST(Certificate, ATuningReportWithoutOptionsIsADamagedFile) {
  const Model model = low_rank();
  for (const json& report :
       {json{{"tried", json::array()}}, json{{"options", "beta"}, {"tried", json::array()}}}) {
    try {
      tuned(model, report);
      FAIL() << report;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("tuned.safetensors"), std::string::npos) << error.what();
    }
  }
  EXPECT_NO_THROW(tuned(model, {{"options", {"beta"}}, {"tried", json::array()}}));
}

}  // namespace
}  // namespace slimbayes
