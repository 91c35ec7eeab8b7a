#include "slimbayes/encoding/notes/column_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

constexpr size_t kFewest = 3;  // fewest notes that become one sentence
constexpr size_t kNamed = 5;   // most columns that a joint sentence names

std::string sentence_of(const std::vector<const ColumnNote*>& alike) {
  std::string names;
  for (size_t i = 0; i < alike.size() && i < kNamed; ++i) {
    const ColumnNote& note = *alike[i];
    names += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", in_quotes(note.column),
                         note.detail.empty() ? "" : " ", note.detail);
  }
  if (alike.size() > kNamed) names += fmt::format(" and {} more", alike.size() - kNamed);
  return fmt::format("{} columns {} ({})", alike.size(), alike.front()->several, names);
}

}  // namespace

std::vector<std::string> gathered(const std::vector<ColumnNote>& notes) {
  std::map<std::string, std::vector<const ColumnNote*>> alike;
  for (const ColumnNote& note : notes) {
    if (!note.sentence.empty() && !note.several.empty()) alike[note.several].push_back(&note);
  }
  std::vector<std::string> sentences;
  for (const auto kind : {ColumnNoteKind::dropped, ColumnNoteKind::odd, ColumnNoteKind::imputed}) {
    for (const ColumnNote& note : notes) {
      if (note.kind != kind || note.sentence.empty()) continue;
      const auto group = alike.find(note.several);
      if (group == alike.end() || group->second.size() < kFewest)
        sentences.push_back(note.sentence);
      else if (group->second.front() == &note)
        sentences.push_back(sentence_of(group->second));
    }
  }
  return sentences;
}

}  // namespace slimbayes
