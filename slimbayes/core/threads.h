#pragma once

namespace slimbayes {

/// Sets the number of threads of the tensor library while an object of this class lives; the destructor
/// restores the earlier number. 0 leaves the number unchanged. The number belongs to the whole process: if
/// two threads hold a ThreadScope at once, the number set last applies to both. Throws std::invalid_argument
/// for a negative number.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;  // number of threads before the constructor
};

}  // namespace slimbayes
