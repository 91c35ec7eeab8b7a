#include "slimbayes/encoding/notes/column_note.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

ColumnNote missing(const std::string& name, int cells) {
  return {ColumnNoteKind::imputed, name, name + " lacks cells", "lack cells", std::to_string(cells)};
}

using Gathered = std::vector<std::string>;

TEST(gathered, joins_three_notes_that_differ_only_in_the_column) {
  EXPECT_EQ(gathered({}), Gathered{});
  EXPECT_EQ(gathered({missing("a", 1), missing("b", 2)}), (Gathered{"a lacks cells", "b lacks cells"}));
  EXPECT_EQ(gathered({missing("a", 1), missing("b", 2), missing("c", 3)}),
            Gathered{"3 columns lack cells ('a' 1, 'b' 2, 'c' 3)"});
}

TEST(gathered, names_five_columns_and_counts_the_others) {
  std::vector<ColumnNote> notes;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"})
    notes.push_back({ColumnNoteKind::dropped, name, "dropped", "are constant"});
  EXPECT_EQ(gathered(notes), Gathered{"7 columns are constant ('a', 'b', 'c', 'd', 'e' and 2 more)"});
}

TEST(gathered, lists_dropped_columns_first_and_leaves_empty_notes_out) {
  const std::vector<ColumnNote> notes = {missing("a", 1),
                                         {ColumnNoteKind::odd, "b", "b is odd"},
                                         missing("c", 1),
                                         missing("d", 2),
                                         {ColumnNoteKind::odd, "e", ""},
                                         {ColumnNoteKind::dropped, "f", "f is dropped"}};
  EXPECT_EQ(gathered(notes),
            (Gathered{"f is dropped", "b is odd", "3 columns lack cells ('a' 1, 'c' 1, 'd' 2)"}));
}

TEST(gathered, keeps_notes_apart_that_have_nothing_in_common) {
  const ColumnNote alone{ColumnNoteKind::odd, "x", "x is odd"};
  EXPECT_EQ(gathered({alone, alone, alone}), (Gathered{"x is odd", "x is odd", "x is odd"}));
}

}  // namespace
}  // namespace slimbayes
