#include "slimbayes/train/job_ranks.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"

// A round of messages: rank 0 sends an order to every rank; every rank sends its state; then the ranks whose
// job has ended send its result, one after another.

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kRound = 20ms;  // from one round to the next
constexpr auto kLook = 50ms;   // between two looks of a waiting thread at its callback
constexpr const char* kNotes = "job notes";

// The columns of the orders [ranks, kOrder] and of the states [ranks, 2], float64.
constexpr int64_t kVerb = 0, kJob = 1, kUntil = 2, kLeft = 3, kTold = 4, kOrder = 5;
constexpr int64_t kBytes = 0, kInterrupted = 1;
constexpr double kNothing = 0, kBegin = 1, kOver = 2;  // verbs
constexpr double kGoOn = 0, kStop = 1, kLate = 2;      // what a job is told

/// Sends the bytes that one rank has to all.
std::vector<std::byte> from_rank(const Collective& ranks, const std::vector<std::byte>& own, int64_t count) {
  const at::Tensor bytes = at::zeros({count}, at::kByte);
  if (!own.empty()) std::memcpy(bytes.mutable_data_ptr(), own.data(), own.size());
  ranks.sum(bytes);
  const auto* from = static_cast<const std::byte*>(bytes.const_data_ptr());
  return {from, from + count};
}

JobDeadline in_seconds(double seconds) {
  if (!(seconds < 1e9)) return {};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// A job that this rank runs for rank 0, on a thread of its own.
class ServedJob : public Callback {
 public:
  ServedJob(size_t job, JobDeadline until, JobDeadline call, const JobRanks::Run& run)
      : call_(call), thread_([this, job, until, &run] {
          TensorFile file = run(job, *this, until);
          file.metadata[kNotes] = nlohmann::json(notes_).dump();
          bytes_ = to_bytes(file);
          ended_ = true;
        }) {}
  ~ServedJob() override {
    told_ = kStop;
    thread_.join();
  }
  ServedJob(const ServedJob&) = delete;
  ServedJob& operator=(const ServedJob&) = delete;

  bool ended() const { return ended_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }  // once it has ended
  void tell(double told) { told_ = told; }

  void note(const std::string& sentence) override { notes_.push_back(sentence); }
  bool stop() override { return told_ == kStop; }
  bool late() override { return told_ == kLate || seconds_left() < 0; }
  double seconds_left() const override { return seconds_until(call_); }

 private:
  JobDeadline call_;
  std::vector<std::string> notes_;  // of the thread, until the job has ended
  std::vector<std::byte> bytes_;
  std::atomic<double> told_ = kGoOn;
  std::atomic<bool> ended_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

class JobRanks::Impl {
 public:
  explicit Impl(const Collective& ranks) : ranks_(ranks), wanted_(static_cast<size_t>(ranks.size())) {}

  int64_t size() const { return ranks_.size(); }
  bool is_worker() const { return ranks_.rank() > 0; }
  bool interrupted() const {
    const std::scoped_lock held(lock_);
    if (failed_) std::rethrow_exception(failed_);
    return interrupted_;
  }

  bool claim(const std::string& kind) {
    if (claimed_.exchange(true)) return false;
    const std::vector<std::string> all = gather_texts(ranks_, kind);
    const bool same = std::ranges::all_of(all, [&](const std::string& other) { return other == kind; });
    if (same && !is_worker()) messenger_ = std::thread([this] { exchange(); });
    if (!same && is_worker()) throw JobsServed("rank 0 has no jobs of this kind");
    return same;
  }

  void release() {
    if (is_worker()) return;
    if (!claimed_.exchange(true)) {
      gather_texts(ranks_, "");  // the others, which wait in claim(), end
      return;
    }
    {
      const std::scoped_lock held(lock_);
      over_ = true;
    }
    changed_.notify_all();
    if (messenger_.joinable()) messenger_.join();
  }

  TensorFile run(int64_t rank, size_t job, Callback& callback, JobDeadline until) {
    std::unique_lock held(lock_);
    Wanted& own = wanted_.at(static_cast<size_t>(rank));
    own = {.verb = kBegin, .job = job, .until = until, .call = in_seconds(callback.seconds_left())};
    news_ = true;
    changed_.notify_all();
    while (own.answer.empty() && !failed_) {
      changed_.wait_for(held, kLook);
      held.unlock();
      const double told = callback.stop() ? kStop : callback.late() ? kLate : kGoOn;
      held.lock();
      own.told = told;
    }
    if (failed_) std::rethrow_exception(failed_);
    const std::vector<std::byte> bytes = std::move(own.answer);
    held.unlock();
    TensorFile file = parse_tensor_file(bytes, "the answer of a rank");
    for (const auto& note : nlohmann::json::parse(stored_text(file, kNotes)))
      callback.note(note.get<std::string>());
    file.metadata.erase(kNotes);
    return file;
  }

  void serve(const Run& run, Callback* watch) {
    std::optional<ServedJob> job;
    while (true) {
      const at::Tensor orders = at::zeros({ranks_.size(), kOrder}, at::kDouble);
      ranks_.broadcast(orders);
      const auto own = orders.accessor<double, 2>()[ranks_.rank()];
      if (own[kVerb] == kOver) return;
      if (own[kVerb] == kBegin) {
        const auto number = static_cast<size_t>(own[kJob]);
        job.emplace(number, in_seconds(own[kUntil]), in_seconds(own[kLeft]), run);
      }
      if (job) job->tell(own[kTold]);
      const bool ended = job && job->ended();
      exchange_states(ended ? &job->bytes() : nullptr, watch != nullptr && watch->stop());
      if (ended) job.reset();
    }
  }

 private:
  /// A job that a rank is to run.
  struct Wanted {
    double verb = kNothing;
    size_t job = 0;
    JobDeadline until = {}, call = {};
    double told = kGoOn;
    std::vector<std::byte> answer = {};  // a file; empty until it comes
  };

  /// The thread of rank 0 that talks to the others.
  void exchange() {
    try {
      while (send_orders())
        for (auto& [rank, bytes] : exchange_states(nullptr, false)) {
          const std::scoped_lock held(lock_);
          wanted_.at(rank).answer = std::move(bytes);
          changed_.notify_all();
        }
    } catch (...) {
      const std::scoped_lock held(lock_);
      failed_ = std::current_exception();
      changed_.notify_all();
    }
  }

  /// Sends the next orders. Returns false if they say that the series is over.
  bool send_orders() {
    const at::Tensor orders = at::zeros({ranks_.size(), kOrder}, at::kDouble);
    auto to = orders.accessor<double, 2>();
    bool over = false;
    {
      std::unique_lock held(lock_);
      changed_.wait_for(held, kRound, [this] { return over_ || news_; });
      over = over_;
      news_ = false;
      for (int64_t r = 1; r < ranks_.size(); ++r) {
        Wanted& one = wanted_[static_cast<size_t>(r)];
        to[r][kVerb] = over ? kOver : one.verb;
        to[r][kJob] = static_cast<double>(one.job);
        to[r][kUntil] = std::min(seconds_until(one.until), 1e300);
        to[r][kLeft] = std::min(seconds_until(one.call), 1e300);
        to[r][kTold] = one.told;
        one.verb = kNothing;
      }
    }
    ranks_.broadcast(orders);
    return !over;
  }

  /// Sends the state of this rank, and the result of a job that has ended (nullptr: none). Returns the
  /// results of all ranks.
  std::vector<std::pair<size_t, std::vector<std::byte>>> exchange_states(const std::vector<std::byte>* result,
                                                                         bool interrupted) {
    const double bytes = result != nullptr ? static_cast<double>(result->size()) : -1;
    const at::Tensor all = ranks_.gather(at::tensor({bytes, interrupted ? 1.0 : 0.0}, at::kDouble));
    const auto state = all.accessor<double, 2>();
    std::vector<std::pair<size_t, std::vector<std::byte>>> results;
    for (int64_t r = 0; r < ranks_.size(); ++r) {
      if (state[r][kInterrupted] > 0) interrupted_ = true;
      if (state[r][kBytes] < 0) continue;
      const bool own = r == ranks_.rank();
      const auto count = static_cast<int64_t>(state[r][kBytes]);
      results.emplace_back(r, from_rank(ranks_, own ? *result : std::vector<std::byte>(), count));
    }
    return results;
  }

  const Collective& ranks_;
  std::atomic<bool> claimed_ = false, interrupted_ = false;
  mutable std::mutex lock_;  // of what follows
  std::condition_variable changed_;
  std::vector<Wanted> wanted_;  // by rank
  bool over_ = false, news_ = false;
  std::exception_ptr failed_;
  std::thread messenger_;
};

JobRanks::JobRanks(const Collective& ranks) : impl_(std::make_unique<Impl>(ranks)) {}

JobRanks::~JobRanks() {
  try {
    release();
  } catch (const std::exception&) {  // the others have ended, which run() has told or nobody asks
  }
}

int64_t JobRanks::size() const { return impl_->size(); }

bool JobRanks::is_worker() const { return impl_->is_worker(); }

bool JobRanks::claim(const std::string& kind) { return impl_->claim(kind); }

TensorFile JobRanks::run(int64_t rank, size_t job, Callback& callback, JobDeadline until) {
  return impl_->run(rank, job, callback, until);
}

bool JobRanks::interrupted() const { return impl_->interrupted(); }

void JobRanks::release() { impl_->release(); }

void JobRanks::serve(const Run& run, Callback* watch) { impl_->serve(run, watch); }

}  // namespace slimbayes
