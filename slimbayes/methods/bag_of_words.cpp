#include "slimbayes/catalog/last_layer/dnn_options.h"
#include "slimbayes/catalog/plain/bag_of_words_options.h"
#include "slimbayes/method/method.h"

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

std::unique_ptr<Method> make_dnn(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dnn(const TensorFile& file);

std::unique_ptr<Method> make_bag_of_words(const nlohmann::json& options) {
  const auto o = options_from_json<BagOfWordsOptions>(options, "bag-of-words");
  DnnOptions dnn;
  dnn.network.training = o.training;
  dnn.network.network.network = "bag_of_words";
  dnn.network.network.hidden = o.hidden;
  dnn.network.network.dropout = o.dropout;
  return make_dnn(options_to_json(dnn));
}

std::unique_ptr<Fitted> load_bag_of_words(const TensorFile& file) { return load_dnn(file); }

}  // namespace slimbayes
