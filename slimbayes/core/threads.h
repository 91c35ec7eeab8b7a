#pragma once

namespace slimbayes {

/// Threads of the tensor library while it lives; the earlier number comes back at its end. The number belongs
/// to the process: of two scopes at once in two threads, both see the later one's. 0 changes nothing. Throws
/// std::invalid_argument for a negative number.
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
