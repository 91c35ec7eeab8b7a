#pragma once

#include <ATen/ATen.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "slimbayes/storage/error.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Where the threads of run_ranks() exchange their tensors.
class Meeting {
 public:
  explicit Meeting(int64_t size) : slots_(static_cast<size_t>(size)), calls_(slots_.size()) {}

  /// Returns the tensors of all ranks. Throws RanksEnded if one of them has left, and std::logic_error if
  /// they have not called the same function with tensors of the same shape and type.
  std::vector<at::Tensor> exchange(int64_t rank, const std::string& function, const at::Tensor& x) {
    std::unique_lock held(lock_);
    const auto own = static_cast<size_t>(rank);
    slots_[own] = x.clone();
    calls_[own] = function;
    wait(held);
    std::vector<at::Tensor> all = slots_;
    const std::vector<std::string> calls = calls_;
    wait(held);
    for (size_t r = 0; r < all.size(); ++r)
      if (calls[r] != function || all[r].sizes() != x.sizes() || all[r].scalar_type() != x.scalar_type())
        throw std::logic_error("rank " + std::to_string(rank) + " calls " + function + ", rank " +
                               std::to_string(r) + " " + calls[r] + ", or with another shape");
    return all;
  }

  void leave() {
    const std::scoped_lock held(lock_);
    left_ = true;
    changed_.notify_all();
  }

 private:
  void wait(std::unique_lock<std::mutex>& held) {
    const int64_t round = round_;
    if (++waiting_ == std::ssize(slots_)) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(held, [&] { return round_ != round || left_; });
    if (round_ == round) throw RanksEnded("[ranks] another rank has left");
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<at::Tensor> slots_;
  std::vector<std::string> calls_;
  int64_t waiting_ = 0, round_ = 0;
  bool left_ = false;
};

/// A thread as a rank. Sums go in the order of the ranks.
class ThreadRank : public Collective {
 public:
  ThreadRank(Meeting& meeting, int64_t rank, int64_t size) : meeting_(meeting), rank_(rank), size_(size) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  void sum(const at::Tensor& x) const override {
    const std::vector<at::Tensor> all = meeting_.exchange(rank_, "sum", x);
    x.copy_(all[0]);
    for (size_t r = 1; r < all.size(); ++r) x.add_(all[r]);
  }
  void broadcast(const at::Tensor& x) const override { x.copy_(meeting_.exchange(rank_, "broadcast", x)[0]); }
  at::Tensor gather(const at::Tensor& x) const override {
    return at::stack(meeting_.exchange(rank_, "gather", x));
  }

 private:
  Meeting& meeting_;
  int64_t rank_, size_;
};

/// Runs `body` on `size` threads, each as a rank. Returns what each of them threw: the text of its exception,
/// or "".
inline std::vector<std::string> run_ranks(int64_t size, const std::function<void(const Collective&)>& body) {
  Meeting meeting(size);
  std::vector<std::string> thrown(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(ThreadRank(meeting, rank, size));
      } catch (const std::exception& error) {
        thrown[static_cast<size_t>(rank)] = error.what();
      }
      meeting.leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace slimbayes
