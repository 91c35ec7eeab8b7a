
#include <cmath>

#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

TEST(Events, CoordinatesAreScaledByTheDomain) {
  Table table = table_of({numbers("a", {0, 0.5, 1}), numbers("b", {-1, 2, 3})});
  Encoder e =
      Encoder::fit(table, {0, 2}, {"", "min-max", {}, "train", LikelihoodKind::cox, {{0, 1}, {-1, 3}}});
  EXPECT_TRUE(equal(inputs_of(e, table), {-1, -1, 0, .5, 1, 1}));
  const Task& task = e.schema().task;
  EXPECT_EQ(task.kind, TaskKind::events);
  // Two of the three events are training events; the domain and its encoded box both have volume 4:
  // y_shift = log(3/2 * 4/4).
  EXPECT_NEAR(task.y_shift, std::log(1.5), 1e-14);
  Encoder back = Encoder::from_json(nlohmann::json::parse(e.to_json().dump()));
  EXPECT_EQ(inputs_of(back, table), inputs_of(e, table));
  EXPECT_EQ(back.to_json(), e.to_json());
  Table outside = table_of({numbers("a", {0, 1.2}), numbers("b", {0, 0})});
  expect_has(error_of([&] { inputs_of(e, outside); }),
             "t.csv: data row 2: expected 'a' inside its domain 0:1; received 1.2; fit on a wider domain");
}

TEST(Events, BadInputIsNamed) {
  Table table = table_of({numbers("a", {0, 0.5}), numbers("b", {0, 9}), categories("c", {0, 0}, {"u"})});
  auto message = [&](std::vector<Axis> domain, std::vector<std::string> ignore, std::string target = "") {
    return error_of([&] {
      Encoder::fit(table, {0, 1}, {target, "min-max", ignore, "train", LikelihoodKind::cox, domain});
    });
  };
  expect_has(message({{0, 1}, {0, 10}}, {}),
             "coordinates that are numbers; received the categorical column 'c'");
  expect_has(message({{0, 1}}, {"c"}), "a domain of 2 axes, one a coordinate; received 1");
  expect_has(message({{0, 1}, {0, 2}}, {"c"}),
             "row 2: expected 'b' inside its domain 0:2; received 9; widen `.domain`");
  expect_has(message({{0, 1}, {0, 10}}, {"c"}, "a"), "leave `.target` out");
  EXPECT_EQ(message({{0, 1}, {0, 10}}, {"c"}), "no error");
}

}  // namespace
}  // namespace slimbayes
