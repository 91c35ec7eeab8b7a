#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "slimbayes/method/trained_network.h"

namespace slimbayes {

/// Networks that were trained in this process, found by their training_key(). Give one cache to several fits
/// of the same examples (FitContext::networks): methods that start from the same network then train it once.
/// Each result has the same bits as a fit without the cache. The fits must use the same augmentation of
/// images, because the key does not contain it. The cache keeps every network until it is destroyed. Not safe
/// to share between threads.
class NetworkCache {
 public:
  /// Returns the network of this key. If there is none, calls `train` and keeps the result, unless the
  /// training was interrupted.
  TrainedNetwork trained(const std::string& key, const std::function<TrainedNetwork()>& train);

  int64_t taken() const { return taken_; }     // number of requests answered from the cache
  double seconds() const { return seconds_; }  // training time that these requests saved

 private:
  struct Entry {
    TrainedNetwork network;
    double seconds;
  };
  std::map<std::string, Entry> entries_;
  int64_t taken_ = 0;
  double seconds_ = 0;
};

/// Returns a text that is equal for two trainings only if both give the same bits. It holds the network, the
/// options, hashes of the training and validation rows, the stream and the number of threads.
std::string training_key(const NetworkSpec& spec, const TrainedNetworkOptions& options, const Split& split,
                         const Stream& stream);

}  // namespace slimbayes
