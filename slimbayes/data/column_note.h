#pragma once

#include <string>
#include <vector>

namespace slimbayes {

/// What a note on a column says about the model. Notes are listed in this order.
enum class ColumnNoteKind {
  dropped,  // the column is not an input
  odd,      // the column is an input, but its cells may not mean what they seem to
  imputed   // the column is an input; some of its cells were replaced
};

/// A note on one column. Notes that differ only in the column are gathered into one sentence.
struct ColumnNote {
  ColumnNoteKind kind;
  std::string column;    // name
  std::string sentence;  // the note if it stands alone; empty if there is no note
  /// What the note says if it is gathered with others, such as "are constant on the training rows: dropped";
  /// it follows "18 columns". Empty if the note always stands alone.
  std::string several = "";
  std::string detail = "";  // what differs from column to column, such as a number of cells
};

/// Returns the sentences of these notes by kind, within a kind in the order given. Three or more notes with
/// the same `several` become one sentence, which names the first five columns with their details. Notes
/// without a sentence are left out. O(notes).
std::vector<std::string> gathered(const std::vector<ColumnNote>& notes);

}  // namespace slimbayes
