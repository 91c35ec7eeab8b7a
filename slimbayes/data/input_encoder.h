#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/images.h"
#include "slimbayes/data/outside.h"
#include "slimbayes/data/split.h"
#include "slimbayes/data/text.h"
#include "slimbayes/data/window_encoder.h"

namespace slimbayes {

/// From a user's examples to a network's inputs and back: one alternative a kind of input, each fitted on the
/// training examples and saved with the model. The functions below dispatch to the active alternative;
/// examples of another kind throw std::invalid_argument.
using InputEncoder = std::variant<Encoder, WindowEncoder, ImageEncoder, TextEncoder>;

InputKind kind_of(const InputEncoder& encoder);
const Schema& schema_of(const InputEncoder& encoder);

/// The column that is predicted; "" for events, "label" for images.
const std::string& target_of(const InputEncoder& encoder);

/// How a file of rows for this encoder is to be read; nothing of images.
Reading reading_of(const InputEncoder& encoder, bool with_target);

/// Throws std::invalid_argument where the options ask for another kind of input than these examples are.
void check_examples(const Examples& examples, const FitOptions& options);

/// The examples that the options ask for: the table itself, or those windows in it whose target is there
/// (WindowOptions of the options; throws as find_windows). Images pass as they are. Throws as check_examples.
Examples examples_of(Examples given, const FitOptions& options);

/// The same for a fitted encoder. With `with_target` only the windows whose target is in the table.
Examples examples_of(Examples given, const InputEncoder& encoder, bool with_target);

/// The likelihood of the options. Where they name none, of texts numbers of which there are only two are
/// classes (bernoulli), as sentiments are written; else none, and the target's column decides (fit_task).
std::optional<LikelihoodKind> likelihood_of(const Examples& examples, const FitOptions& options);

/// Which examples train, choose, calibrate and test: windows by their time, the others dealt by split_rows.
SplitRows split_examples(const Examples& examples, const FitOptions& options);

/// The groups that split_examples keeps together in one part, so that examples with identical inputs are
/// normally in the same part. Each window is a group of its own.
RowGroups groups_of(const Examples& examples, const FitOptions& options);

/// Fits the encoder of the options' kind on the training examples. `scale`: of numeric inputs, "min-max" or
/// "standard". Throws as the fit() of each encoder.
InputEncoder fit_encoder(const Examples& examples, const std::vector<int64_t>& train,
                         const FitOptions& options, const std::string& scale);

/// The dataset of these examples. An example that has no inputs (Encoder::inputs) is listed in `bad`, its
/// inputs 0, or, without such a list, throws DataError. `augmentation` varies images in training.
Dataset dataset_of(const InputEncoder& encoder, const Examples& examples, bool with_target,
                   std::vector<BadRow>* bad = nullptr, const Augmentation& augmentation = {});

/// The targets in the user's units, without the rounding of standardising and its inverse. [n] Throws
/// DataError for a class that was not there in training.
at::Tensor target_as_given(const InputEncoder& encoder, const Examples& examples);

/// Throws as check_standardised for a target that is too far from those of training.
void check_targets(const InputEncoder& encoder, const Examples& examples);

/// Sentences about what training dropped or imputed, and about what is odd in these examples.
std::vector<std::string> notes_of(const InputEncoder& encoder);
std::vector<std::string> notes_for(const InputEncoder& encoder, const Examples& examples);

/// How far the examples lie outside the training range; of a table alone.
std::optional<Outside> outside(const InputEncoder& encoder, const Examples& examples);

nlohmann::json to_json(const InputEncoder& encoder);

/// Throws std::invalid_argument for what is no encoder.
InputEncoder input_encoder_from_json(const nlohmann::json& json);

}  // namespace slimbayes
