#include "slimbayes/catalog/methods.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "slimbayes/catalog/fit_checks.h"

namespace slimbayes {
namespace {

using nlohmann::json;

TEST(Methods, NamesAndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const MethodInfo& info : method_catalog()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name;
    for (const std::string& alias : info.aliases) EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
  EXPECT_TRUE(seen.contains("dbk") && seen.contains("dnn") && seen.contains("gp-exact"));
}

TEST(Methods, EveryFieldIsFilled) {
  for (const MethodInfo& info : method_catalog()) {
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.summary.empty() || info.paper.empty() || info.tasks.empty() || info.inputs.empty());
    EXPECT_TRUE(info.input_scale == "min-max" || info.input_scale == "standard");
    EXPECT_FALSE(info.options.empty());
    for (const OptionDoc& doc : info.options) EXPECT_FALSE(doc.doc.empty() || doc.source.empty()) << doc.name;
  }
}

TEST(Methods, ResolveFillsInDefaultsThatPassTheirOwnChecks) {
  for (const MethodInfo& info : method_catalog()) {
    SCOPED_TRACE(info.name);
    const json defaults = info.resolve(json::object());
    // auto keeps no defaults of its candidates
    const std::vector<OptionDoc> docs = info.candidates ? info.options : options_of(info, json::object());
    EXPECT_EQ(defaults.size(), docs.size());
    for (const OptionDoc& doc : docs) EXPECT_EQ(defaults[doc.name], doc.fallback) << doc.name;
    EXPECT_EQ(info.resolve(defaults), defaults);
    EXPECT_THROW(info.resolve({{"no_such_option", 1}}), std::invalid_argument);
  }
}

TEST(Methods, AliasesFindTheMethod) {
  EXPECT_EQ(find_method("map").name, "dnn");
  EXPECT_EQ(find_method("deterministic").name, "dnn");
  EXPECT_EQ(find_method("gp-exact").name, "gp-exact");
}

TEST(Methods, AnInnerMethodLendsItsOptions) {
  const MethodInfo& ensemble = find_method("ensemble");
  EXPECT_EQ(&inner_method(ensemble, json::object()), &find_method("dnn"));
  EXPECT_EQ(&inner_method(ensemble, {{"of", "dbk"}}), &find_method("dbk"));
  EXPECT_EQ(&inner_method(find_method("dbk"), {{"of", "dnn"}}), &find_method("dbk"));
  EXPECT_EQ(options_of(ensemble, {{"of", "dbk"}}).size(),
            ensemble.options.size() + find_method("dbk").options.size());
  const json resolved = ensemble.resolve({{"of", "dbk"}, {"rank", 7}, {"members", 2}});
  EXPECT_EQ(resolved["rank"], 7);
  EXPECT_EQ(resolved["steps"], find_method("dbk").resolve(json::object())["steps"]);
  // No method has an option with the name of an ensemble option.
  for (const MethodInfo& info : method_catalog()) {
    if (&info == &ensemble) continue;
    for (const OptionDoc& doc : info.options)
      EXPECT_TRUE(doc.name != "of" && doc.name != "members") << info.name;
  }
}

TEST(Methods, GridsLieWithinTheirRanges) {
  size_t tunable = 0;
  for (const MethodInfo& info : method_catalog()) {
    for (const OptionDoc& doc : info.options) {
      for (double value : doc.grid)
        EXPECT_NO_THROW(info.resolve({{doc.name, value}})) << info.name << " " << doc.name;
      tunable += !doc.grid.empty();
      if (doc.name == "alpha" || doc.name == "beta") {
        EXPECT_EQ(doc.grid, (std::vector<double>{0, 0.01, 0.1, 1}));
      }
    }
  }
  EXPECT_GT(tunable, 1u);
}

TEST(Methods, WhatIsTunedIsWhatNoFlagSets) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(tunable_options(find_method("dbk"), {}), (Names{"alpha", "beta"}));
  EXPECT_EQ(tunable_options(find_method("dbk"), {{"alpha", 0.1}, {"rank", 8}}), Names{"beta"});
  EXPECT_EQ(tunable_options(find_method("ensemble"), {{"of", "vbll"}}), Names{"beta"});  // of the members
  const auto refusal = [](const std::string& name, const nlohmann::json& given) -> std::string {
    try {
      tunable_options(find_method(name), given);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("vbll", {{"beta", 1}}).find("something left to choose"), std::string::npos);
  EXPECT_NE(refusal("gp-exact", nlohmann::json::object()).find("received 'gp-exact'; these have: dbk"),
            std::string::npos);
  EXPECT_NE(refusal("ensemble", {{"of", "dnn"}}).find("received 'dnn'"), std::string::npos);
}

TEST(Methods, PresetsResolveAndThoseOfMembersAreFound) {
  for (const MethodInfo& info : method_catalog()) {
    SCOPED_TRACE(info.name);
    for (const Preset& preset : info.presets) {
      const json options = preset_options(info, preset.name, json::object());
      for (const auto& item : preset.options.items()) EXPECT_EQ(options[item.key()], item.value());
      EXPECT_FALSE(preset.notes.empty()) << preset.name;  // no paper says everything that a fit needs
    }
  }
  EXPECT_EQ(preset_names(), (std::vector<std::string>{"paper", "paper-clinical", "paper-beijing", "paper-toy",
                                                      "paper-sst2", "paper-mnist"}));
  EXPECT_EQ(preset_options(find_method("dbk"), "paper", {{"batch", 7}})["batch"], 7);  // given ones win
  const MethodInfo &ensemble = find_method("ensemble"), &gp = find_method("gp-exact");
  EXPECT_EQ(find_preset(ensemble, "paper", {{"of", "vbll"}}), find_preset(find_method("vbll"), "paper"));
  EXPECT_EQ(find_preset(ensemble, "other"), nullptr);
  EXPECT_EQ(find_preset(gp, "paper"), nullptr);
  EXPECT_EQ(preset_options(gp, "paper", json::object()), gp.resolve(json::object()));
}

TEST(Methods, FactsForHelpComeFromTheCatalogue) {
  EXPECT_EQ(
      default_methods_text(),
      "auto for regression, classification and counts, sv-rbf for events, dbk for `.likelihood=student`, "
      "vbll for negative-binomial and zero-inflated-poisson");
  EXPECT_TRUE(default_method_of_network().takes_network);
  EXPECT_EQ(methods_that(&MethodInfo::updates), "dbk-exact, rich-bll, bll, last-layer-laplace, ntk-sketch");
  EXPECT_EQ(grids_text(), "alpha and beta over 0, 0.01, 0.1, 1");
  for (const TaskKind task :
       {TaskKind::regression, TaskKind::classification, TaskKind::counts, TaskKind::events})
    EXPECT_TRUE(takes(default_method(task), task));
  EXPECT_EQ(default_method(TaskKind::classification, InputKind::images).name, "auto");
  EXPECT_EQ(default_method(TaskKind::classification, InputKind::segmentation).name, "dnn");
  EXPECT_EQ(
      methods_taking(TaskKind::classification, InputKind::segmentation),
      "dnn, mc-dropout, swag, bbb, full-rank, low-rank, low-rank-svd, low-rank-laplace, rank-1, fid-gp, "
      "fid-gp-reparam, ffg-u, batch-ensemble, f-sgvb-lrt, ensemble");
  EXPECT_FALSE(takes(find_method("ensemble"), InputKind::segmentation, {{"of", "vbll"}}));
}

TEST(Methods, AllButThoseWithoutNetworksComputeOnADevice) {
  std::vector<std::string> host;
  for (const MethodInfo& info : method_catalog())
    if (!info.device) host.push_back(info.name);
  EXPECT_EQ(host, (std::vector<std::string>{"ridge", "logistic", "extra-trees", "constant"}));
  EXPECT_NE(methods_that(&MethodInfo::device).find("gp-exact"), std::string::npos);
  const MethodInfo& ensemble = find_method("ensemble");  // its members do, if they are of such a method
  EXPECT_TRUE(ensemble.device && !inner_method(ensemble, {{"of", "ridge"}}).device);
}

TEST(Methods, OnlyARankOfFeaturesIsBoundedByTheRows) {
  for (const MethodInfo& info : method_catalog()) {
    for (const OptionDoc& doc : info.options) {
      // The rank of low-rank is that of its matrices, which the rows do not bound.
      const bool of_features = doc.name == "rank" && !info.name.starts_with("low-rank");
      EXPECT_EQ(doc.at_most_rows, of_features) << info.name << " " << doc.name;
      EXPECT_EQ(doc.gaussian_only, doc.name == "alpha") << info.name << " " << doc.name;
    }
  }
}

TEST(Methods, UnknownNameGetsTheNearest) {
  try {
    find_method("gp-exat");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'gp-exact'?"), std::string::npos) << error.what();
  }
}

TEST(Methods, ForeignRowsAreToldByWhatMeansModelUncertainty) {
  const auto score = [](const char* method, const nlohmann::json& options = nlohmann::json::object()) {
    return ood_score(find_method(method), options);
  };
  for (const MethodInfo& info : method_catalog()) {
    const bool epistemic = info.parts != SdParts::noise_only && info.parts != SdParts::sum_only;
    EXPECT_EQ(score(info.name.c_str()) == "epistemic_sd", epistemic) << info.name;
    EXPECT_FALSE(meaning_of(info.parts).empty());
  }
  EXPECT_EQ(score("dbk"), "total_sd");
  EXPECT_EQ(score("pp-dkl"), "total_sd");
  EXPECT_EQ(score("dnn"), "");  // dnn has one noise variance for all rows
  EXPECT_EQ(score("ensemble"), "epistemic_sd");
  EXPECT_EQ(score("ensemble", {{"of", "dbk"}}), "total_sd");
}

TEST(Methods, TotalOnlyMethodsSaySo) {
  const MethodInfo& dbk = find_method("dbk");
  EXPECT_EQ(dbk.parts, SdParts::sum_only);
  EXPECT_NE(dbk.summary.find("total variance"), std::string::npos);
  const MethodInfo& gp = find_method("gp-exact");
  EXPECT_TRUE(gp.parts == SdParts::calibrated && gp.variance_grows_away && !gp.seeded);
  EXPECT_EQ(gp.input_scale, "standard");
}

TEST(Methods, AnEnsembleNamesMembersThatTakeTheTask) {
  const MethodInfo& info = find_method("ensemble");
  try {
    check_method(info, info.resolve(nlohmann::json::object()), InputKind::table, TaskKind::counts);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("`.of=vbll`"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace slimbayes
