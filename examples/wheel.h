#pragma once

// The wheel bandit (Riquelme, Tucker and Snoek 2018, "Deep Bayesian Bandits Showdown") and the game that a
// policy plays on it. examples/wheel.cpp plays it; experiments/wheel compares policies on it.
//
// A context is a point of the unit disk, and there are five arms. Arm 0 is safe: its mean reward is 1.2. The
// others have mean 1, but beyond the radius delta one of them, chosen by the quadrant, has mean 50. For delta
// near 1 such contexts are rare, so that only a policy that knows what it does not know finds the good arms.

#include <ATen/ATen.h>
#include <slimbayes/core/check.h>
#include <slimbayes/core/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>

namespace wheel {

inline constexpr int64_t kArms = 5, kInputs = 2 + kArms;
inline constexpr double kSafe = 1.2, kSmall = 1.0, kLarge = 50.0, kLargeSd = 0.01;

struct Wheel {
  double delta = 0.5;      // radius beyond which one arm is good, in (0, 1)
  double noise_sd = 0.01;  // of every reward but the large one, whose sd is kLargeSd
};

/// Returns points drawn uniformly from the unit disk. [n, 2] float64
inline at::Tensor contexts(const slimbayes::Stream& stream, int64_t n) {
  const at::Tensor radius = stream.split("radius").uniform({n}).sqrt();
  const at::Tensor angle = 2 * std::numbers::pi * stream.split("angle").uniform({n});
  return at::stack({radius * angle.cos(), radius * angle.sin()}, 1);
}

/// Returns the arm that is good beyond delta: 1 to 4 by the quadrant. context [n, 2]. [n] int64
inline at::Tensor quadrant_arm(const at::Tensor& context) {
  const at::Tensor left = (context.select(1, 0) <= 0).to(at::kLong);
  return 1 + (context.select(1, 1) <= 0).to(at::kLong) + 2 * left;
}

/// Returns the mean reward of every arm. context [n, 2]. [n, 5] float64
inline at::Tensor mean_rewards(const Wheel& wheel, const at::Tensor& context) {
  at::Tensor mean = at::full({context.size(0), kArms}, kSmall, at::kDouble);
  mean.select(1, 0).fill_(kSafe);
  const at::Tensor beyond = at::nonzero(context.square().sum(1) > wheel.delta * wheel.delta).squeeze(1);
  mean.index_put_({beyond, quadrant_arm(context).index_select(0, beyond)}, at::full({}, kLarge, at::kDouble));
  return mean;
}

/// Returns what a network reads about contexts [b, 2] and arms [b]: the context and the one-hot arm. [b, 7]
inline at::Tensor inputs_of(const at::Tensor& context, const at::Tensor& arm) {
  return at::cat({context.to(at::kFloat), at::one_hot(arm, kArms).to(at::kFloat)}, 1);
}

/// Returns the inputs of every arm in every context [b, 2], arms running fastest. [5 b, 7]
inline at::Tensor all_inputs(const at::Tensor& context) {
  return inputs_of(context.repeat_interleave(kArms, 0), at::arange(kArms).repeat({context.size(0)}));
}

/// Every pull so far.
class History {
 public:
  explicit History(int64_t capacity)
      : inputs_(at::empty({capacity, kInputs}, at::kFloat)),
        arm_(at::empty({capacity}, at::kLong)),
        reward_(at::empty({capacity}, at::kFloat)),
        error_(at::empty({capacity}, at::kDouble)) {}

  /// Appends pulls of `arm` [b] in `context` [b, 2] that gave `reward` [b] where `predicted` [b] was
  /// expected.
  void add(const at::Tensor& context, const at::Tensor& arm, const at::Tensor& reward,
           const at::Tensor& predicted) {
    const int64_t b = arm.size(0);
    inputs_.narrow(0, size_, b).copy_(inputs_of(context, arm));
    arm_.narrow(0, size_, b).copy_(arm);
    reward_.narrow(0, size_, b).copy_(reward);
    error_.narrow(0, size_, b).copy_((reward - predicted).square());
    size_ += b;
  }

  int64_t size() const { return size_; }                             // n
  at::Tensor inputs() const { return inputs_.narrow(0, 0, size_); }  // [n, 7] float32
  at::Tensor arm() const { return arm_.narrow(0, 0, size_); }        // [n] int64
  at::Tensor reward() const { return reward_.narrow(0, 0, size_); }  // [n] float32
  /// Returns the mean squared error of the predictions before the last `window` pulls.
  double recent_error(int64_t window) const {
    const int64_t k = std::min(window, size_);
    return error_.narrow(0, size_ - k, k).mean().item<double>();
  }

 private:
  at::Tensor inputs_, arm_, reward_, error_;
  int64_t size_ = 0;
};

/// What a policy expects of every arm, and one draw of it. [b, 5] each, float64
struct Beliefs {
  at::Tensor mean, draw;
};

/// A policy pulls, in each context, the arm whose draw is largest (Thompson sampling).
struct Policy {
  virtual ~Policy() = default;
  virtual Beliefs beliefs(const at::Tensor& context, const slimbayes::Stream& stream) const = 0;
  /// Takes `steps` gradient steps on the history, then rebuilds the posterior.
  virtual void learn(const History& history, int64_t steps, const slimbayes::Stream& stream) = 0;
  double gradient_seconds = 0, posterior_seconds = 0;  // spent in learn()
};

/// Pulls every arm equally often.
struct UniformPolicy : Policy {
  Beliefs beliefs(const at::Tensor& context, const slimbayes::Stream& stream) const override {
    const at::Tensor draw = stream.uniform({context.size(0), kArms});
    return {at::zeros_like(draw), draw};
  }
  void learn(const History&, int64_t, const slimbayes::Stream&) override {}
};

/// Seconds since a clock was made.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

struct Game {
  Wheel wheel = {};
  int64_t phases = 800;
  int64_t pulls = 20;            // of a phase, all with the posterior that the phase before has left
  int64_t gradient_steps = 100;  // after the pulls of a phase
  int64_t first_pulls = 3;       // of each arm, before the first phase
  uint64_t seed = 0;             // two policies with one seed meet the same contexts and noise
};

/// Regrets are sums over pulls of (largest mean reward - mean reward of the arm that was pulled).
struct Result {
  int64_t pulls = 0;
  double regret = 0;          // of the policy, the first pulls of each arm included
  double uniform_regret = 0;  // expected of uniformly random arms in the same contexts
  double first_regret = 0, first_uniform_regret = 0;  // the parts of the first pulls
  double seconds = 0;

  double percent() const { return 100 * regret / uniform_regret; }
  double percent_after_first() const {
    return 100 * (regret - first_regret) / (uniform_regret - first_uniform_regret);
  }
};

/// Plays the game. `after_phase` gets the phase's number, from 1, and the result so far.
inline Result play(const Game& game, Policy& policy,
                   const std::function<void(int64_t phase, const Result&)>& after_phase) {
  const slimbayes::Stream stream(game.seed);
  const Clock clock;
  const int64_t first = kArms * game.first_pulls;
  History history(first + game.phases * game.pulls);
  Result result;
  const auto pull = [&](int64_t n, const slimbayes::Stream& phase, const at::Tensor& forced) {
    const at::Tensor context = contexts(phase.split("context"), n), mean = mean_rewards(game.wheel, context);
    const Beliefs beliefs = policy.beliefs(context, phase.split("policy"));
    const at::Tensor arm = forced.defined() ? forced : beliefs.draw.argmax(1), index = arm.unsqueeze(1);
    const at::Tensor expected = mean.gather(1, index).squeeze(1);
    const at::Tensor sd = at::where(expected == kLarge, kLargeSd, game.wheel.noise_sd);
    history.add(context, arm, expected + sd * phase.split("noise").normal({n}),
                beliefs.mean.gather(1, index).squeeze(1));
    const at::Tensor most = mean.amax(1);
    result.pulls += n;
    result.regret += (most - expected).sum().item<double>();
    result.uniform_regret += (most - mean.mean(1)).sum().item<double>();
    result.seconds = clock.seconds();
  };
  pull(first, stream.split("first"), at::arange(kArms).repeat({game.first_pulls}));
  result.first_regret = result.regret;
  result.first_uniform_regret = result.uniform_regret;
  policy.learn(history, 0, stream.split("first").split("learn"));
  for (int64_t phase = 1; phase <= game.phases; ++phase) {
    const slimbayes::Stream own = stream.split("phase").split(static_cast<uint64_t>(phase));
    pull(game.pulls, own, {});
    policy.learn(history, game.gradient_steps, own.split("learn"));
    result.seconds = clock.seconds();
    after_phase(phase, result);
  }
  return result;
}

}  // namespace wheel
