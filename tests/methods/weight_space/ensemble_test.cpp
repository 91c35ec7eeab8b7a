#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/storage/error.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;
using contract::answer;
using nlohmann::json;

json quick_ensemble(const std::string& of, int members = 3) {
  return {{"of", of}, {"members", members}, {"steps", 60}, {"hidden", 8}, {"blocks", 1}};
}

std::unique_ptr<Fitted> fitted(const json& options, const FitContext& context = {Stream(7)}) {
  return registry_row("ensemble").make(options)->fit(contract::toy_split(), context);
}

TEST(Ensemble, IsTheMixtureOfItsMembersFittedAlone) {
  Dataset data = contract::toy(40, 3);
  std::vector<Regression> members;
  json own = quick_ensemble("dbk");
  own.erase("of");
  own.erase("members");
  for (uint64_t i = 0; i < 3; ++i) {
    auto member =
        registry_row("dbk").make(own)->fit(contract::toy_split(), {Stream(7).split("member").split(i)});
    members.push_back(answer(*member, data));
  }
  Regression p = answer(*fitted(quick_ensemble("dbk")), data), expected = mixture(members);
  EXPECT_TRUE(at::equal(p.mean, expected.mean));
  EXPECT_TRUE(at::equal(p.aleatoric_var, expected.aleatoric_var));
  EXPECT_TRUE(at::equal(p.epistemic_var, expected.epistemic_var));
}

TEST(Ensemble, OneMemberHasNoDisagreement) {
  Regression p = answer(*fitted(quick_ensemble("dnn", 1)), contract::toy(20, 3));
  EXPECT_EQ(p.epistemic_var.abs().max().item<double>(), 0);
  Regression three = answer(*fitted(quick_ensemble("dnn", 3)), contract::toy(20, 3));
  EXPECT_GT(three.epistemic_var.min().item<double>(), 0);
}

TEST(Ensemble, OptionsOfTheMembersAreCheckedByTheirMethod) {
  const auto error_of = [](const json& options) -> std::string {
    try {
      registry_row("ensemble").make(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(error_of({{"of", "dbk"}, {"rnk", 3}}).find("'rank'"), std::string::npos);
  EXPECT_NE(error_of({{"of", "dnn"}, {"rank", 3}}).find("[dnn]"), std::string::npos);  // dnn has no rank
  EXPECT_NE(error_of({{"of", "dnn"}, {"steps", -1}}).find("steps"), std::string::npos);
  EXPECT_NE(error_of({{"members", 0}}).find("members"), std::string::npos);
  EXPECT_NE(error_of({{"of", "ensemble"}}).find("another"), std::string::npos);
  EXPECT_NE(error_of({{"of", "dnnn"}}).find("dnn"), std::string::npos);
  EXPECT_NE(error_of({{"of", "gp-exact"}}).find("seed"), std::string::npos);  // all members would be equal
  json resolved = find_method("ensemble").resolve({{"of", "map"}});
  EXPECT_EQ(resolved["of"], "dnn");
  EXPECT_EQ(resolved["members"], 5);
  EXPECT_EQ(resolved["steps"], 20000);
  EXPECT_EQ(find_method("ensemble").resolve(resolved), resolved);
}

TEST(Ensemble, SummaryAddsTheWork) {
  auto model = fitted(quick_ensemble("dnn"));
  json own = quick_ensemble("dnn");
  own.erase("of");
  own.erase("members");
  auto one = registry_row("dnn").make(own)->fit(contract::toy_split(), {Stream(7)});
  EXPECT_EQ(model->summary().steps, 3 * one->summary().steps);
  EXPECT_EQ(model->summary().rows, one->summary().rows);
  ASSERT_FALSE(model->summary().notes.empty());
  EXPECT_NE(model->summary().notes[0].find("3 members of dnn"), std::string::npos);
}

TEST(Ensemble, AFileWithoutMembersIsRefused) {
  TensorFile file = fitted(quick_ensemble("dnn"))->save();
  std::erase_if(file.metadata, [](const auto& item) { return item.first.starts_with("member.0."); });
  EXPECT_ANY_THROW(registry_row("ensemble").load(file));
  std::erase_if(file.tensors, [](const auto& item) { return item.first.starts_with("member."); });
  std::erase_if(file.metadata, [](const auto& item) { return item.first.starts_with("member."); });
  EXPECT_THROW(registry_row("ensemble").load(file), std::invalid_argument);
}

class StopAfter : public Callback {
 public:
  explicit StopAfter(int stages) : stages_(stages) {}
  void stage(const std::string&) override { ++begun; }
  bool stop() override { return begun > stages_; }
  int begun = 0;

 private:
  int stages_;
};

TEST(Ensemble, InterruptedAndResumedItEndsInTheSameBits) {
  fs::path folder = fs::path(testing::TempDir()) / ("ensemble" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directory(folder);
  FitContext context{Stream(7), nullptr, {folder / "m.ckpt", false, "print"}};
  auto whole = fitted(quick_ensemble("dnn"));
  StopAfter impatient(2);
  context.callback = &impatient;
  auto part = fitted(quick_ensemble("dnn"), context);
  EXPECT_EQ(part->summary().stopped, Stopped::interrupted);
  EXPECT_NE(part->summary().notes[0].find("2 members"), std::string::npos);
  StopAfter watcher(1000);
  context.callback = &watcher;
  context.checkpoint.resume = true;
  auto rest = fitted(quick_ensemble("dnn"), context);
  EXPECT_EQ(watcher.begun, 1);  // the finished members are not fitted again
  EXPECT_EQ(to_bytes(rest->save()), to_bytes(whole->save()));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace slimbayes
