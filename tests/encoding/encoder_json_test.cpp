
#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

TEST(Encoder_json, round_trip_is_exact) {
  Table t = table_of({numbers("x", {0.1, 1.0 / 3, kNone, 1e300}),
                      categories("c", {0, 1, 2, 1}, {"a", "\"b\"", "c\n"}), numbers("k", {1, 1, 1, 1}),
                      numbers("skip", {1, 2, 3, 4}), numbers("y", {0.1, 0.2, 0.7, 1e-9})});
  for (const char* scale : {"min-max", "standard"}) {
    Encoder e = Encoder::fit(t, all_rows(t), {"y", scale, {"skip"}});
    Encoder back = Encoder::from_json(nlohmann::json::parse(e.to_json().dump()));
    EXPECT_EQ(inputs_of(back, t), inputs_of(e, t));
    EXPECT_EQ(back.target(t), e.target(t));
    EXPECT_EQ(back.schema().features, e.schema().features);
    EXPECT_EQ(back.notes(), e.notes());
    EXPECT_EQ(back.notes_for(t), e.notes_for(t));
    EXPECT_EQ(back.to_json(), e.to_json());
  }
}

TEST(Encoder_json, damage_is_an_invalid_argument) {
  Table t = table_of({numbers("x", {1, 2}), categories("c", {0, 1}, {"a", "b"}), numbers("y", {1, 2})});
  nlohmann::json good = Encoder::fit(t, all_rows(t), {"y"}).to_json();
  EXPECT_THROW(Encoder::from_json(nlohmann::json::array()), std::invalid_argument);
  for (const auto& [key, value] : good.items()) {
    nlohmann::json bad = good;
    bad.erase(key);
    if (key != "target_kind" && key != "low") {  // optional: files of older versions lack them
      EXPECT_THROW(Encoder::from_json(bad), std::invalid_argument) << key;
    }
    bad[key] = nlohmann::json::object({{"a", 1}});
    EXPECT_THROW(Encoder::from_json(bad), std::invalid_argument) << key;
  }
  auto broken = [&](const char* key, nlohmann::json value) {
    nlohmann::json bad = good;
    bad["columns"][0][key] = value;
    EXPECT_THROW(Encoder::from_json(bad), std::invalid_argument) << key;
  };
  broken("scale", 0);
  broken("scale", -1);
  broken("shift", nullptr);
  broken("kind", "colour");
  broken("dropped", "colour");
  broken("levels", {"b", "a"});
  good["columns"] = nlohmann::json::array();
  EXPECT_THROW(Encoder::from_json(good), std::invalid_argument);
}

TEST(Encoder_json, ADamagedOneIsRefusedInOurWords) {
  for (const char* text : {R"({"target": 3})", R"({})", R"({"target": "y", "scale": []})"}) {
    try {
      Encoder::from_json(nlohmann::json::parse(text));
      FAIL() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace slimbayes
