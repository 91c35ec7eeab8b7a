#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "slimbayes/method/trained_network.h"

namespace slimbayes {

/// Networks that were trained in this process, by training_key(). Give one to several fits of the same
/// examples by FitContext::networks, so that methods which start from the same network train it once; each
/// result has the bits of a fit without it. The fits must not differ in the augmentation of images, which the
/// key does not see. Holds each network until it is destroyed. Not safe to share between threads.
class NetworkCache {
 public:
  /// Returns the network of this key. If there is none, calls `train` and keeps its result, unless the
  /// training was interrupted.
  TrainedNetwork trained(const std::string& key, const std::function<TrainedNetwork()>& train);

  int64_t taken() const { return taken_; }     // how many networks were here already when asked for
  double seconds() const { return seconds_; }  // the time that training these took, added up

 private:
  struct Entry {
    TrainedNetwork network;
    double seconds;
  };
  std::map<std::string, Entry> entries_;
  int64_t taken_ = 0;
  double seconds_ = 0;
};

/// Returns a text that is equal for two trainings only if both give the same bits: it holds the network, the
/// options, hashes of the training and validation rows, the stream and the number of threads.
std::string training_key(const NetworkSpec& spec, const TrainingOptions& options, const Split& split,
                         const Stream& stream);

}  // namespace slimbayes
