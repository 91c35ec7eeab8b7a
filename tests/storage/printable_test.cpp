#include "slimbayes/storage/printable.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

constexpr const char* kReplaced = "\xef\xbf\xbd";

TEST(Printable, HoldsNoChangeOfDirection) {
  for (const char* mark : {"\u200e", "\u200f", "\u061c", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                           "\u2066", "\u2067", "\u2068", "\u2069"})
    EXPECT_EQ(printable(std::string("a") + mark + "b"), std::string("a") + kReplaced + "b") << mark;
}

TEST(Printable, HoldsNoCommandOfATerminal) {
  for (const char* command : {"\x1b", "\x7f", "\u009b", "\u2028", "\xff"})
    EXPECT_EQ(printable(command), kReplaced);
  EXPECT_EQ(printable("a\tb\nc"), "a b c");
  EXPECT_EQ(printable_lines("a\tb\nc\r"), "a\tb\nc ");
}

TEST(Printable, LettersOfEveryDirectionStay) {
  for (const char* word :
       {"na\u00efve", "\u65e5\u672c\u8a9e", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d"})
    EXPECT_EQ(printable(word), word);
}

}  // namespace
}  // namespace slimbayes
