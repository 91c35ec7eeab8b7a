#pragma once

namespace slimbayes {

/// Sets the number of threads of the tensor library for its lifetime; the destructor restores the earlier
/// number. The number belongs to the process: if two threads hold a scope at once, both use the number set
/// last. 0 leaves the number as it is. Throws std::invalid_argument for a negative number.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace slimbayes
