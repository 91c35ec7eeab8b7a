#include "slimbayes/engine/features.h"

#include <algorithm>

#include "slimbayes/engine/exact_plan.h"
#include "slimbayes/engine/tape.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

/// Where a pass of a plan leaves the features and, for the last layer, the output.
struct Places {
  Slot features, output;
  bool last_layer = false;

  /// Returns whether the plan has them.
  bool find(const Plan& plan, FeaturesOf of) {
    features = output = plan.result();
    last_layer = of == FeaturesOf::last_layer;
    if (!last_layer) return true;
    const auto* last = plan.steps().empty() ? nullptr : std::get_if<DenseStep>(&plan.steps().back());
    if (last == nullptr) return false;
    features = last->in;
    return true;
  }
  int64_t outputs() const { return last_layer ? output.width : 0; }

  /// Copies the outputs of the rows without their padding.
  template <class Number>
  void copy_outputs(const Number* tape, int64_t rows, double* out) const {
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(tape + output.offset + i * output.ld(), output.width, out + i * output.width);
  }
};

class FloatFeatures : public Features {
 public:
  FloatFeatures(const Plan& plan, std::span<const float* const> values, const Places& places)
      : plan_(plan), places_(places) {
    packed_.reserve(plan.packed_floats());
    plan.pack(kernels::kernels(), values, packed_.data());
  }

  int64_t inputs() const override { return plan_.inputs(); }
  int64_t rank() const override { return places_.features.width; }
  int64_t outputs() const override { return places_.outputs(); }
  int64_t scratch() const override {
    return doubles_of(plan_.tape_floats(/*keep=*/false)) + doubles_of(kChunkRows * inputs()) +
           kChunkRows * places_.features.ld() + padded(kChunkRows * outputs());
  }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    auto* tape = reinterpret_cast<float*>(part_of(scratch, doubles_of(plan_.tape_floats(/*keep=*/false))));
    auto* narrow = reinterpret_cast<float*>(part_of(scratch, doubles_of(kChunkRows * inputs())));
    double* phi = part_of(scratch, kChunkRows * places_.features.ld());
    std::transform(x, x + rows * inputs(), narrow, [](double one) { return static_cast<float>(one); });
    plan_.forward(kernels::kernels(), packed_.data(), narrow, inputs(), rows, tape, /*keep=*/false);
    kernels::kernels().widen(places_.features.of(rows), tape + places_.features.offset, nullptr, nullptr,
                             phi);
    if (!places_.last_layer) return {phi, nullptr};
    places_.copy_outputs(tape, rows, scratch);
    return {phi, scratch};
  }

 private:
  static int64_t doubles_of(int64_t floats) { return padded((floats + 1) / 2); }

  Plan plan_;
  Places places_;
  Floats packed_;
};

class DoubleFeatures : public Features {
 public:
  DoubleFeatures(std::shared_ptr<const ExactPlan> plan, const Places& places)
      : plan_(std::move(plan)), places_(places) {}

  int64_t inputs() const override { return plan_->inputs(); }
  int64_t rank() const override { return places_.features.width; }
  int64_t outputs() const override { return places_.outputs(); }
  int64_t scratch() const override { return padded(plan_->scratch()) + padded(kChunkRows * outputs()); }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    double* tape = plan_->run(x, rows, part_of(scratch, plan_->scratch()));
    if (!places_.last_layer) return {tape + places_.features.offset, nullptr};
    places_.copy_outputs(tape, rows, scratch);
    return {tape + places_.features.offset, scratch};
  }

 private:
  std::shared_ptr<const ExactPlan> plan_;
  Places places_;
};

class IdentityFeatures : public Features {
 public:
  explicit IdentityFeatures(int64_t inputs) : inputs_(inputs) {}

  int64_t inputs() const override { return inputs_; }
  int64_t rank() const override { return inputs_; }
  int64_t scratch() const override { return kChunkRows * padded(inputs_); }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    const int64_t ld = padded(inputs_);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(x + i * inputs_, inputs_, scratch + i * ld);
      std::fill(scratch + i * ld + inputs_, scratch + (i + 1) * ld, 0.0);
    }
    return {scratch, nullptr};
  }

 private:
  int64_t inputs_;
};

}  // namespace

std::shared_ptr<const Features> network_features(const Plan& plan, std::span<const float* const> values,
                                                 FeaturesOf of) {
  Places places;
  if (!places.find(plan, of)) return nullptr;
  return std::make_shared<FloatFeatures>(plan, values, places);
}

std::shared_ptr<const Features> network_features(const Plan& plan, std::span<const double* const> values,
                                                 FeaturesOf of) {
  Places places;
  if (!places.find(plan, of)) return nullptr;
  std::shared_ptr<const ExactPlan> exact = ExactPlan::of(plan, values);
  return exact ? std::make_shared<DoubleFeatures>(std::move(exact), places) : nullptr;
}

std::shared_ptr<const Features> identity_features(int64_t inputs) {
  return std::make_shared<IdentityFeatures>(inputs);
}

}  // namespace slimbayes::engine
