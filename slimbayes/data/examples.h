#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/data/bad_row.h"
#include "slimbayes/data/images.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/window_table.h"

namespace slimbayes {

/// A set of examples, each of which gets one prediction: the rows of a table (for a text model, the texts in
/// one of its columns), windows of a time series, or images.
using Examples = std::variant<Table, WindowTable, Images>;

/// Returns the number of examples.
int64_t count(const Examples& examples);

/// Returns the path of the file that the examples come from, for messages.
const std::string& source_of(const Examples& examples);

/// Returns the examples at these places, in this order. Throws std::invalid_argument for a place out of
/// range.
Examples take(const Examples& examples, const std::vector<int64_t>& places);

/// Returns one row of the table for each example: the table itself, or the last row that each window sees.
/// Messages give the number of this row, and --keep shows it. Returns nullptr for images. For a table the
/// result points into `examples`, which must live longer.
std::shared_ptr<const Table> last_rows(const Examples& examples);

/// Returns an example's place for a message: "data row 7", "the window up to data row 7", "image 7".
std::string place_of(const Examples& examples, int64_t example);

/// Returns "row", "window" or "image", for counted() in messages.
const char* noun_of(const Examples& examples);

/// Describes the examples that have no answer, with the reasons of the first three. `done` says how they were
/// treated. With `done` = "left out of the report": "9 of 60 rows without an answer, left out of the report:
/// data row 4: ...; (two more); and 6 more; ...". Advice with which all reasons end is given once, at the
/// end.
std::string bad_examples_text(const Examples& examples, const std::vector<BadRow>& bad,
                              const std::string& done);

/// Throws DataError with the place of example `bad.row` and the reason `bad.reason`.
[[noreturn]] void throw_bad_example(const Examples& examples, const BadRow& bad);

/// Returns the XXH3 hash (128 bits, hexadecimal) of a table's names, kinds, levels and cells.
std::string table_hash(const Table& table);

/// Returns the XXH3 hash of the data behind these examples: the whole table for windows, whichever are
/// selected; pixels and labels for images.
std::string hash_of(const Examples& examples);

/// Returns the group of each example [n]: images with identical pixels, or rows with identical text in
/// `column`, share a group. Groups are numbered from 0 by first appearance.
std::vector<int64_t> alike_images(const Images& images);
std::vector<int64_t> alike_texts(const Table& table, const std::string& column);

}  // namespace slimbayes
