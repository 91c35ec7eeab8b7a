#include "slimbayes/catalog/option_tokens.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

using nlohmann::json;

std::string flags(const std::string& message) { return render_options(message, OptionStyle::flags); }
std::string keywords(const std::string& message) { return render_options(message, OptionStyle::keywords); }

TEST(RenderOptions, SpellsAnOptionAsItsFrontEndDoes) {
  const std::string message = "raise `.valid_fraction`, or give `.valid=FILE`";
  EXPECT_EQ(flags(message), "raise --valid-fraction, or give --valid FILE");
  EXPECT_EQ(keywords(message), "raise valid_fraction, or give valid=(X, y)");
}

TEST(RenderOptions, WritesAValueByTheTypeOfTheOption) {
  EXPECT_EQ(flags("`.noise=select` `.hidden=64` `.clip_rank=false` `.time=year,month`"),
            "--noise select --hidden 64 --clip-rank false --time year,month");
  EXPECT_EQ(keywords("`.noise=select` `.hidden=64` `.dropout=0.1` `.clip_rank=false`"),
            "noise='select' hidden=64 dropout=0.1 clip_rank=False");
  EXPECT_EQ(keywords("`.time=date` `.time=year,month` `.target=COLUMN` `.domain=0:1,0:2`"),
            "time='date' time=['year', 'month'] target=COLUMN domain='0:1,0:2'");
}

TEST(RenderOptions, NamesPandasForWhatTextFilesHave) {
  const std::string numbers = "a; in a text file, fit `.thousands=.` `.decimal=,` reads '1.234,5' as 1234.5";
  EXPECT_EQ(flags(numbers), "a; in a text file, fit --thousands '.' --decimal ',' reads '1.234,5' as 1234.5");
  EXPECT_EQ(keywords(numbers), "a; pandas.read_csv with thousands='.' decimal=',' reads '1.234,5' as 1234.5");
  const std::string dates = "in a text file, fit `.date_format` names their format";
  EXPECT_EQ(flags(dates), "in a text file, fit --date-format names their format");
  EXPECT_EQ(keywords(dates), "pandas.to_datetime with format names their format");
  EXPECT_EQ(keywords("`.rename` gives a column its name"), "DataFrame.rename gives a column its name");
  EXPECT_EQ(flags("`.thousands= ` `.thousands='`"), "--thousands ' ' --thousands \"'\"");
  EXPECT_EQ(keywords("fit `.thousands= `, `.thousands='`"),
            "pandas.read_csv with thousands=' ', thousands=\"'\"");
}

TEST(RenderOptions, LeavesOtherBackticksAndOldFlags) {
  for (const std::string text :
       {"", "`", "``", "`.", "`.`", "`.seed", "`seed`", "`.no_option`", "`.Seed`", "`.seed=`", "`. seed`",
        "see `slimbayes fit --help`", "a file of before: --noise select", "a``b", "`a`.csv"}) {
    EXPECT_EQ(flags(text), text);
    EXPECT_EQ(keywords(text), text);
  }
  EXPECT_EQ(flags("`slimbayes predict `.maps`` draws"), "`slimbayes predict --maps` draws");
  EXPECT_EQ(flags("`.`.seed`"), "`.--seed");
}

TEST(ForeignText, IsNeverAnOptionAndComesBackAsItWas) {
  for (const std::string text : {"`.seed`", "``.seed`", "```.seed``", "`.seed=3`", "a`.seed`b`.noise=mse`",
                                 "`.csv`", "``.", ".`", "`", "plain.csv", "`.`.seed`", "`a`.seed`"}) {
    const std::string message = "expected `.seed=1` for '" + foreign_text(text) + "'; see `.level`";
    EXPECT_EQ(flags(message), "expected --seed 1 for '" + text + "'; see --level");
    EXPECT_EQ(keywords(message), "expected seed=1 for '" + text + "'; see level");
    EXPECT_EQ(flags(DataError(text, "no `.seed`", 3).what()), text + ":3: no --seed");
  }
  EXPECT_EQ(foreign_text("x.csv `a` .b"), "x.csv `a` .b");
}

TEST(MessageParts, TellOptionsFromText) {
  const std::vector<MessagePart> parts =
      message_parts("add `.noise=mse`, or leave `.refit` out", OptionStyle::flags);
  ASSERT_EQ(parts.size(), 5U);
  EXPECT_EQ(parts[0].text, "add ");
  EXPECT_EQ(parts[1].text, "--noise mse");
  EXPECT_EQ(parts[3].text, "--refit");
  EXPECT_TRUE(parts[1].option && parts[3].option);
  EXPECT_FALSE(parts[0].option || parts[2].option || parts[4].option);
}

TEST(MapSentences, ChangesSentencesAndNoOtherTexts) {
  const json report = {{"notes", {"raise `.rank`", "fine"}},
                       {"classes", {"`.rank`"}},
                       {"text", "`.rank`"},
                       {"runs", {{{"failed", "no `.rank`"}, {"rank", "`.rank`"}}}},
                       {"noise", {{"notes", {"`.rank`"}}, {"folds", 3}}}};
  const json shown = map_sentences(report, flags);
  const json expected = {{"notes", {"raise --rank", "fine"}},
                         {"classes", {"`.rank`"}},
                         {"text", "`.rank`"},
                         {"runs", {{{"failed", "no --rank"}, {"rank", "`.rank`"}}}},
                         {"noise", {{"notes", {"--rank"}}, {"folds", 3}}}};
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(map_sentences("`.rank`", flags), "`.rank`");
}

// Every token in the texts of the library names an option; one that is formatted, `.{}`, is not seen here.
TEST(OptionNames, HaveEveryTokenOfTheSources) {
  const std::regex token("`\\.([a-z0-9_{}]+)(=[^`]*)?`");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SLIMBAYES_SOURCE_DIR "/slimbayes")) {
    const std::string ending = entry.path().extension().string(), name = entry.path().stem().string();
    if ((ending != ".h" && ending != ".cpp") || name == "option_tokens") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), token), end; at != end; ++at) {
      const std::string option = (*at)[1];
      if (option.find('{') != std::string::npos) continue;
      EXPECT_TRUE(option_names().contains(option)) << entry.path() << ": " << at->str();
      found.insert(option);
    }
  }
  EXPECT_GT(found.size(), 60U);
  for (const char* option : {"valid_fraction", "resume", "max_table_memory", "kl_ramp"})
    EXPECT_TRUE(found.contains(option)) << option;
}

}  // namespace
}  // namespace slimbayes
