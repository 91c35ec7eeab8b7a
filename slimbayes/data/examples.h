#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/data/bad_row.h"
#include "slimbayes/data/images.h"
#include "slimbayes/data/table.h"
#include "slimbayes/data/windows.h"

namespace slimbayes {

/// Some windows of a table. The table is shared: windows overlap, and a row lies in memory once.
struct WindowTable {
  std::shared_ptr<const Table> table;
  std::shared_ptr<const Windows> windows;
  std::vector<int64_t> chosen;  // places in Windows::last
};

/// A set of examples, each of which gets one prediction: the rows of a table (for a text model, the texts in
/// one of its columns), windows of a time series, or images.
using Examples = std::variant<Table, WindowTable, Images>;

int64_t count(const Examples& examples);

/// The file, for messages.
const std::string& source_of(const Examples& examples);

/// These examples, in this order. Throws std::invalid_argument for an index outside.
Examples take(const Examples& examples, const std::vector<int64_t>& places);

/// The rows that messages number and --keep shows: a table itself, the last row that each window sees.
/// nullptr for images. Throws nothing.
std::shared_ptr<const Table> last_rows(const Examples& examples);

/// An example's place in a message: "data row 7", "the window up to data row 7", "image 7".
std::string place_of(const Examples& examples, int64_t example);

/// "rows", "windows" or "images", for counts in messages.
const char* noun_of(const Examples& examples);

/// Describes the examples that have no answer, with the reasons of the first three. `done` says how they were
/// treated. With `done` = "left out of the report":
/// "9 of 60 rows without an answer, left out of the report: data row 4: ...; (two more); and 6 more".
std::string bad_examples_text(const Examples& examples, const std::vector<BadRow>& bad,
                              const std::string& done);

/// Throws DataError with the place of example `bad.row` and the reason `bad.reason`.
[[noreturn]] void throw_bad_example(const Examples& examples, const BadRow& bad);

/// XXH3 of a table's names, kinds, levels and cells.
std::string table_hash(const Table& table);

/// XXH3 of everything that these examples hold: of windows their whole table, of images pixels and labels.
std::string hash_of(const Examples& examples);

/// The number of the group of each example: those with identical pixels, or identical text in this column,
/// are one. Groups are numbered by first appearance. [n]
std::vector<int64_t> alike_images(const Images& images);
std::vector<int64_t> alike_texts(const Table& table, const std::string& column);

}  // namespace slimbayes
