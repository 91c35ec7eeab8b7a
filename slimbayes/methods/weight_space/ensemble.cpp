#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/method.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/stored_parts.h"
#include "slimbayes/method/timed_part.h"
#include "slimbayes/methods/weight_space/ensemble_options.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/train/jobs.h"

// ensemble: one method fitted several times (Lakshminarayanan, Pritzel and Blundell 2017).
//
// Model       An equal mixture of the members' predictions (answers/answers.h). A regression is answered by
//             the mixture's mean and variance. The mean of the members' noise variances is aleatoric. The
//             mean of their epistemic variances plus the variance of their means is epistemic.
// Estimator   All members are fitted to the same rows. Member i draws from child i of the random stream, so
//             it has other initial weights and other batches.
// Cost        The cost of the method times the number of members.
// Deviations  Any method can be a member, while the paper's members learn a variance per row. There are no
//             adversarial examples.
//
// The ensemble depends only on the interface Method; the registry makes and loads the members by name. In the
// model file the tensors and metadata of a member have the prefix `member.<i>.`.

namespace slimbayes {

namespace {

using nlohmann::json;
using Members = std::vector<std::shared_ptr<const Fitted>>;

constexpr const char* kEnsemble = "ensemble";
constexpr size_t kMostMembers = 1000;

std::string prefix_of(size_t member) { return fmt::format("member.{}.", member); }

void store_member(const Fitted& member, size_t i, TensorFile& file) {
  store_under(prefix_of(i), member.save(), file);
}

/// Returns the members that a model file holds.
Members members_from(const TensorFile& file, const RegistryRow& method) {
  Members members;
  while (members.size() < kMostMembers) {
    const TensorFile own = part_under(prefix_of(members.size()), file);
    if (own.metadata.empty() && own.tensors.empty()) break;
    members.push_back(method.load(own));
  }
  return members;
}

/// Returns one summary for all members: epochs, steps and seconds are summed, the scores averaged, and each
/// different note appears once. The best epoch and the jitter are the largest. The rows are those of the
/// first member, and so are the facts, each of which says so.
Summary merged(const Members& members, const std::string& of) {
  Summary all = members.front()->summary();
  all.steps = all.epochs = 0;
  all.best_score = all.seconds = 0;
  all.notes = {fmt::format("{} members of {}; epochs and steps are their sums, the best score their mean",
                           members.size(), of)};
  for (std::string& fact : all.facts) fact.insert(0, "member 1: ");
  for (const auto& member : members) {
    const Summary& one = member->summary();
    all.steps += one.steps;
    all.epochs += one.epochs;
    all.best_epoch = std::max(all.best_epoch, one.best_epoch);
    all.best_score += one.best_score / static_cast<double>(members.size());
    all.seconds += one.seconds;
    all.jitter = std::max(all.jitter, one.jitter);
    if (one.stopped == Stopped::interrupted) all.stopped = one.stopped;
    for (const std::string& note : one.notes) {
      if (std::ranges::find(all.notes, note) == all.notes.end()) all.notes.push_back(note);
    }
  }
  return all;
}

class EnsembleFitted : public Fitted {
 public:
  EnsembleFitted(json options, Members members, Summary summary)
      : options_(std::move(options)), members_(std::move(members)), summary_(std::move(summary)) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    std::vector<Predictive> answers;
    const auto k = static_cast<double>(members_.size());
    for (const auto& member : members_) {
      const auto i = static_cast<double>(answers.size());
      answers.push_back(member->predict(data, options.within(i / k, (i + 1) / k)));
    }
    return mixture(answers);
  }

  Scores ood(const Dataset& data,
             const PredictOptions& options) const override {  // the mean of the members' scores
    Scores all;
    for (const auto& member : members_) {
      for (const auto& [name, score] : member->ood(data, options)) {
        const at::Tensor share = score / static_cast<double>(members_.size());
        const auto [place, first] = all.emplace(name, share);
        if (!first) place->second = place->second + share;
      }
    }
    return all;
  }

  /// Returns the ensemble with the noise variance raised in every member whose with_noise() does so, or
  /// nullptr if there is no such member.
  std::unique_ptr<Fitted> with_noise(double var) const override {
    Members members = members_;
    bool raised = false;
    for (auto& member : members) {
      auto one = member->with_noise(var);
      if (one == nullptr) continue;
      member = std::move(one);
      raised = true;
    }
    return raised ? std::make_unique<EnsembleFitted>(options_, std::move(members), summary_) : nullptr;
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_.dump();
    file.metadata["summary"] = to_json(summary_).dump();
    for (size_t i = 0; i < members_.size(); ++i) store_member(*members_[i], i, file);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    engine::EnsembleRows ensemble;
    for (const auto& member : members_) {
      std::optional<engine::RowSpec> spec = member->row_spec();
      if (!spec || std::holds_alternative<engine::MixtureRows>(spec->of)) return {};  // has a density
      ensemble.members.push_back(std::move(*spec));
    }
    return engine::RowSpec{std::move(ensemble)};
  }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (auto rows = row_spec()) return engine::AnswerSpec(std::move(*rows));
    engine::RateCandidate rates;
    engine::ClassCandidate classes{.members = {}, .weight = 1};
    for (const auto& member : members_) {
      std::optional<engine::AnswerSpec> spec = member->answer_spec();
      if (!spec) return {};
      if (auto* one = std::get_if<engine::ClassSpec>(&*spec))
        classes.members.push_back(std::move(*one));
      else if (auto one_rate = engine::one_member(std::move(*spec)))
        rates.members.push_back(std::move(*one_rate));
    }
    if (rates.members.size() == members_.size()) return engine::RateSpec{{std::move(rates)}};
    const bool pools = std::ranges::any_of(classes.members, [](const engine::ClassSpec& member) {
      return std::holds_alternative<engine::PooledClasses>(member.of);
    });
    if (classes.members.size() != members_.size() || pools) return {};
    return engine::ClassSpec{engine::PooledClasses{.candidates = {std::move(classes)}}};
  }

 private:
  json options_;
  Members members_;
  Summary summary_;
};

class EnsembleMethod : public Method {
 public:
  explicit EnsembleMethod(const json& given)
      : options_(find_method(kEnsemble).resolve(given)),
        row_(registry_row(options_["of"].get<std::string>())),
        size_(options_["members"].get<size_t>()) {
    method_ = row_.make(member_options());
  }

  /// The members are independent jobs (train/jobs.h). If the caller stops, the ensemble consists of the
  /// members that are finished; only the first may be half trained, so that there is an answer.
  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& given) const override {
    const FitContext context =
        within_memory(given, split.train, {{std::string(row_.name), member_options()}});
    const Stream stream = context.stream.split("member");
    const auto fit_member = [&](size_t i, const JobContext& job) -> std::shared_ptr<const Fitted> {
      FitContext own = part_of(context, stream.split(static_cast<uint64_t>(i)), job);
      own.start = nullptr;  // members must differ, so each trains its own network
      const TimedPart part(std::move(own), time_shares(size_ - i, job.beside));
      return method_->fit(split, part.context());
    };
    FitJobs jobs(plan_of(context, kEnsemble, [&](size_t i) { return fmt::format("{}/{}", i + 1, size_); }),
                 fit_work(
                     fit_member, [&](size_t) -> const RegistryRow& { return row_; },
                     [&](size_t) { return split.train; }));
    jobs.begin();
    jobs.ahead(0, size_);
    Members members;
    bool interrupted = false;
    std::optional<JobOutcome<std::shared_ptr<const Fitted>>> half;  // would worsen the mixture
    for (size_t i = 0; i < size_; ++i) {
      if (interrupted && !jobs.has(i)) continue;
      auto member = jobs.take(i);
      if (member.result && is_whole(**member.result)) {
        members.push_back(*member.result);
        continue;
      }
      if (member.thrown && !is_stopped(context)) std::rethrow_exception(member.thrown);
      interrupted = true;
      if (!half || !half->result) half = std::move(member);
    }
    if (members.empty()) members.push_back(half->value());
    Summary summary = merged(members, std::string(row_.name));
    if (interrupted) summary.stopped = Stopped::interrupted;
    return std::make_unique<EnsembleFitted>(options_, std::move(members), std::move(summary));
  }

 private:
  json member_options() const {
    json own = options_;
    own.erase("members");
    own.erase("of");
    return own;
  }

  json options_;
  const RegistryRow& row_;
  size_t size_;
  std::unique_ptr<Method> method_;
};

std::unique_ptr<Method> make_ensemble(const nlohmann::json& options) {
  return std::make_unique<EnsembleMethod>(options);
}

std::unique_ptr<Fitted> load_ensemble(const TensorFile& file) {
  json options = find_method(kEnsemble).resolve(stored_json(file, "options"));
  Members members = members_from(file, registry_row(options["of"].get<std::string>()));
  check(!members.empty(), kEnsemble, "at least one member in the file", "none");
  return std::make_unique<EnsembleFitted>(std::move(options), std::move(members),
                                          summary_from_json(stored_json(file, "summary")));
}

}  // namespace

RegistryRow ensemble_row() { return {"ensemble", make_ensemble, load_ensemble}; }

}  // namespace slimbayes
