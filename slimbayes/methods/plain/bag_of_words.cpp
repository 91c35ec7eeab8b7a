#include "slimbayes/method/registry.h"
#include "slimbayes/methods/plain/bag_of_words_options.h"
#include "slimbayes/methods/plain/rows.h"

// bag-of-words: a text as the mean of the vectors of its words, whatever their order (Joulin et al. 2017,
// fastText).
//
// Model       `dnn` with the network bag_of_words: f(x) = b + A mean_i v(word_i), with a noise variance or
// the
//             probabilities of the classes.
// Estimator   As dnn.
// Cost        O(b t h) per step of b texts of t words.
// When        As the rival that a transformer must beat. On a few thousand short texts it often does not.

namespace slimbayes {

RegistryRow bag_of_words_row() {
  constexpr const char *kName = "bag-of-words", *kNetwork = "dnn";
  const auto make = [](const nlohmann::json& options) {
    nlohmann::json own = options_to_json(options_from_json<BagOfWordsOptions>(options, kName));
    own["network"] = "bag_of_words";
    return registry_row(kNetwork).make(find_method(kNetwork).resolve(own));
  };
  return {kName, make, [](const TensorFile& file) { return registry_row(kNetwork).load(file); }};
}

}  // namespace slimbayes
