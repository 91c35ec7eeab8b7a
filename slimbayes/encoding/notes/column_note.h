#pragma once

#include <string>
#include <vector>

namespace slimbayes {

/// What happened to the column of a note. gathered() lists the notes in the order of these kinds.
enum class ColumnNoteKind {
  dropped,  // the column is not an input
  odd,      // the column is an input, but its cells may not mean what they seem to
  imputed   // the column is an input; some of its cells were replaced
};

/// A message to the user about one column. gathered() joins messages that say the same about different
/// columns.
struct ColumnNote {
  ColumnNoteKind kind;
  std::string column;    // name
  std::string sentence;  // the note on this column alone; empty if there is nothing to say
  /// The note in the plural, for a sentence on several columns that begins with "18 columns", such as "are
  /// constant on the training rows: dropped". Notes with the same `several` are joined. Empty if the note is
  /// never joined with others.
  std::string several = "";
  std::string detail = "";  // stands behind the column in the joint sentence, such as a number of cells
};

/// Returns these notes as sentences, ordered by kind and, within a kind, in the order given. Three or more
/// notes with the same `several` become one sentence, which names the first five columns with their details.
/// Notes with an empty sentence are left out. O(notes).
std::vector<std::string> gathered(const std::vector<ColumnNote>& notes);

}  // namespace slimbayes
