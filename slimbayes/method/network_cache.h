#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "slimbayes/method/trained_network.h"

namespace slimbayes {

/// Networks that were trained in this process, found by their training_key(). Give one cache to several fits
/// of the same examples (FitContext::networks): methods that start from the same network then train it once.
/// Each result has the same bits as a fit without the cache. The fits must use the same augmentation of
/// images, because the key does not contain it. The cache keeps every network until it is destroyed. Safe to
/// share between threads.
class NetworkCache {
 public:
  NetworkCache();
  ~NetworkCache();
  NetworkCache(const NetworkCache&) = delete;
  NetworkCache& operator=(const NetworkCache&) = delete;

  /// Returns a cache of the same networks with a list of uses() of its own: give one to each fit of a
  /// comparison.
  std::unique_ptr<NetworkCache> shared() const;

  /// Returns the network of this key. If there is none, calls `train` and keeps the result, unless the
  /// training was interrupted. If another thread trains it, waits for that.
  TrainedNetwork trained(const std::string& key, const std::function<TrainedNetwork()>& train);

  /// A request for a network.
  struct Use {
    std::string key;
    double seconds;  // of the network's training, in this request or an earlier one
    double waited;   // seconds that this request took: those of the training, or nearly 0
    bool found;      // whether an earlier request had trained the network
  };
  /// uses() returns the requests to this object whose network is kept, in order; taken() returns how many of
  /// them found a network that was trained already.
  std::vector<Use> uses() const;
  int64_t taken() const;

 private:
  struct Store;
  explicit NetworkCache(std::shared_ptr<Store> store);
  void add(Use use);

  std::shared_ptr<Store> store_;
  mutable std::mutex lock_;  // of uses_
  std::vector<Use> uses_;
};

/// Returns a text that is equal for two trainings only if both give the same bits. It holds the network, the
/// options, hashes of the training and validation rows, which are on the CPU, the stream, the number of
/// threads and where the network is trained.
std::string training_key(const NetworkSpec& spec, const TrainedNetworkOptions& options, const Split& split,
                         const Stream& stream, at::Device device = at::kCPU);

}  // namespace slimbayes
