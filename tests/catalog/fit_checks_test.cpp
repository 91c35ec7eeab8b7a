#include "slimbayes/catalog/fit_checks.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace slimbayes {
namespace {

std::string weights_refusal(const std::function<void(FitOptions&)>& change,
                            InputKind kind = InputKind::table) {
  FitOptions fit;
  if (!are_images(kind)) fit.target = "y";
  fit.weights = "w";
  change(fit);
  try {
    check_columns(fit, kind);
    check_sections(fit, kind);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(check_columns, lets_weights_be_a_column_of_their_own) {
  EXPECT_EQ(weights_refusal([](FitOptions&) {}), "");
  EXPECT_EQ(weights_refusal([](FitOptions& fit) { fit.weights_are = "counts"; }), "");
  EXPECT_EQ(weights_refusal([](FitOptions& fit) { fit.text = "t"; }, InputKind::text), "");
  EXPECT_EQ(weights_refusal([](FitOptions& fit) { fit.ignore = {"w"}; }), "");
}

TEST(check_columns, refuses_a_column_of_weights_with_another_use) {
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n  should hold\n" << part;
  };
  has(weights_refusal([](FitOptions& fit) { fit.target = "w"; }), "a column of weights beside the target");
  has(weights_refusal([](FitOptions& fit) { fit.text = "w"; }, InputKind::text), "beside that of the text");
  has(weights_refusal([](FitOptions& fit) { fit.time = {"w"}; }), "beside those of the time");
  has(weights_refusal([](FitOptions& fit) { fit.group = {"w"}; }), "beside those of the groups");
  has(weights_refusal([](FitOptions& fit) { fit.categorical = {"w"}; }), "beside those of categories");
  has(weights_refusal([](FitOptions& fit) { fit.weights_are = "shares"; }), "'importance' or 'counts'");
  has(weights_refusal([](FitOptions&) {}, InputKind::images), "no weights for images");
  has(weights_refusal([](FitOptions& fit) { fit.likelihood = LikelihoodKind::cox; }),
      "no weights for `.likelihood=cox`");
}

TEST(ignored_columns, are_those_that_the_user_names_and_that_of_the_weights) {
  FitOptions fit;
  fit.ignore = {"a"};
  EXPECT_EQ(ignored_columns(fit), std::vector<std::string>{"a"});
  fit.weights = "w";
  EXPECT_EQ(ignored_columns(fit), (std::vector<std::string>{"a", "w"}));
  fit.weights = "a";
  EXPECT_EQ(ignored_columns(fit), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace slimbayes
