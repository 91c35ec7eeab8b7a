#pragma once

#include <vector>

#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/core/random.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"

namespace slimbayes {

/// Returns the statistics of each logit's posterior, from at most `most` rows of its class; a single logit
/// has rows of both classes. The rows of a class with more of them are drawn with `stream`. For rows on disk:
/// a first pass over the targets draws the rows, and a second one reads those alone. In memory are two
/// numbers of each drawn row and the sums. Each row keeps its weight. `own.ranks` draw from the rows of all
/// of them.
std::vector<LinearStatistics> class_sums(const LastLayerFeatures& features, const RankRows& own, int64_t most,
                                         const Stream& stream);

}  // namespace slimbayes
