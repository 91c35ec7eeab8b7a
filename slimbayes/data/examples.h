#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/data/images/images.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/bad_row.h"
#include "slimbayes/encoding/windows/window_table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// A set of examples, each of which gets one prediction: the rows of a table, windows of a time series, or
/// images. For a text model they are the rows of a table with a column of text.
using Examples = std::variant<Table, WindowTable, Images>;

/// Returns the number of examples.
SLIMBAYES_EXPORT int64_t count(const Examples& examples);

/// Returns the path of the file that the examples come from, for messages.
SLIMBAYES_EXPORT const std::string& source_of(const Examples& examples);

/// Returns the examples with these indices, in this order. Throws std::invalid_argument for an index out of
/// range.
SLIMBAYES_EXPORT Examples take(const Examples& examples, const std::vector<int64_t>& places);

/// Returns a table with one row for each example: the table itself, or the last row that each window sees.
/// Use it to show an example to the user: messages give the number of this row, and --keep writes its cells.
/// Returns nullptr for images. For a table the result points into `examples`, which must outlive it.
SLIMBAYES_EXPORT std::shared_ptr<const Table> last_rows(const Examples& examples);

/// Returns an example's place for a message: "data row 7", "the window up to data row 7", "image 7".
SLIMBAYES_EXPORT std::string place_of(const Examples& examples, int64_t example);

/// Returns the word for one example in messages: "row", "window" or "image".
SLIMBAYES_EXPORT const char* noun_of(const Examples& examples);

/// Returns a sentence about the examples without a prediction, `bad`, with the reasons of the first three.
/// `done` says what was done with them. Example for `done` = "left out of the report": "9 of 60 rows without
/// an answer, left out of the report: data row 4: ...; (two more); and 6 more; ...". If all reasons end with
/// the same advice, it stands once, at the end of the sentence.
SLIMBAYES_EXPORT std::string bad_examples_text(const Examples& examples, const std::vector<BadRow>& bad,
                                               const std::string& done);

/// Throws DataError for the example with the index `bad.row`; the message names its place (place_of) and
/// `bad.reason`.
[[noreturn]] SLIMBAYES_EXPORT void throw_bad_example(const Examples& examples, const BadRow& bad);

/// Returns a hash of the names, kinds, levels and cells of a table's columns (XXH3, 128 bits, in
/// hexadecimal).
SLIMBAYES_EXPORT std::string table_hash(const Table& table);

/// Returns a hash (XXH3, 128 bits, in hexadecimal) that identifies the data of these examples, for example to
/// recognise the data of a fit. It covers the cells of a table, or the pixels and labels of images. For
/// windows it covers the whole table, whichever windows are selected.
SLIMBAYES_EXPORT std::string hash_of(const Examples& examples);

/// Returns the group of each image or row, [n], so that a split can keep identical ones together: images with
/// identical pixels, or rows with identical text in `column`, are one group. Groups are numbered 0, 1, ... by
/// first appearance.
SLIMBAYES_EXPORT std::vector<int64_t> alike_images(const Images& images);
SLIMBAYES_EXPORT std::vector<int64_t> alike_texts(const Table& table, const std::string& column);

}  // namespace slimbayes
