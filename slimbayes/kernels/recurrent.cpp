// One step of an LSTM, forward and backward, after the products of its gates.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/recurrent.cpp"
#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

/// The places of the four gates of one row.
struct Gates {
  float *input, *forget, *candidate, *output;

  HWY_INLINE Gates(float* row, int64_t ld)
      : input(row), forget(row + ld), candidate(row + 2 * ld), output(row + 3 * ld) {}
};

/// The values of the gates from their sums. A division takes longer than an exponential here, so two of them
/// share one: 1 / a = b / (a b). 1 + exp(-x) stays near exp(43) at most, whose square is a float.
struct GateValues {
  Vec i, f, g, o;

  HWY_INLINE explicit GateValues(const Gates& sums, int64_t j) {
    const Vec one = All(1), candidate = Load(sums.candidate + j);
    const Vec below_i = Below(sums.input + j), below_f = Below(sums.forget + j),
              below_o = Below(sums.output + j);
    const Vec t = Exp(hn::Mul(All(-2), hn::Abs(candidate))), below_g = hn::Add(one, t);
    const Vec first = hn::Div(one, hn::Mul(below_i, below_f)),
              second = hn::Div(one, hn::Mul(below_o, below_g));
    i = hn::Mul(below_f, first);
    f = hn::Mul(below_i, first);
    o = hn::Mul(below_g, second);
    g = TanhFrom(candidate, hn::Mul(hn::Sub(one, t), hn::Mul(below_o, second)));
  }

 private:
  static HWY_INLINE Vec Below(const float* x) { return hn::Add(All(1), Exp(hn::Neg(Load(x)), 43)); }
};

void LstmForward(const LstmCell& at, float* hidden, int64_t ld_hidden) {
  const int64_t ld = padded(at.width);
  for (int64_t r = 0; r < at.rows; ++r, hidden += ld_hidden) {
    const Gates gates(at.gates + r * 4 * ld, ld);
    for (int64_t j = 0; j < ld; j += kLanes) {
      const GateValues at_j(gates, j);
      const Vec i = at_j.i, f = at_j.f, g = at_j.g, o = at_j.o;
      const Vec before = at.before == nullptr ? hn::Zero(kTag) : Load(at.before + r * ld + j);
      const Vec cell = hn::MulAdd(f, before, hn::Mul(i, g)), squashed = Tanh(cell);
      Store(i, gates.input + j);
      Store(f, gates.forget + j);
      Store(g, gates.candidate + j);
      Store(o, gates.output + j);
      Store(cell, at.cell + r * ld + j);
      Store(squashed, at.squashed + r * ld + j);
      Store(hn::Mul(o, squashed), hidden + j);
    }
  }
}

void LstmBackward(const LstmCell& at, const float* grad_hidden, float* grad_cell) {
  const int64_t ld = padded(at.width);
  const Vec one = All(1);
  // the gradient before a sigmoid s, given that behind it
  const auto before_sigmoid = [&](Vec s, Vec grad)
                                  HWY_ATTR { return hn::Mul(grad, hn::Mul(s, hn::Sub(one, s))); };
  for (int64_t r = 0; r < at.rows; ++r) {
    const Gates gates(at.gates + r * 4 * ld, ld);
    for (int64_t j = 0; j < ld; j += kLanes) {
      const int64_t k = r * ld + j;
      const Vec i = Load(gates.input + j), f = Load(gates.forget + j), g = Load(gates.candidate + j),
                o = Load(gates.output + j), squashed = Load(at.squashed + k),
                from_hidden = Load(grad_hidden + k);
      const Vec before = at.before == nullptr ? hn::Zero(kTag) : Load(at.before + k);
      const Vec slope = hn::NegMulAdd(squashed, squashed, one);
      const Vec cell = hn::MulAdd(hn::Mul(from_hidden, o), slope, Load(grad_cell + k));
      Store(before_sigmoid(i, hn::Mul(cell, g)), gates.input + j);
      Store(before_sigmoid(f, hn::Mul(cell, before)), gates.forget + j);
      Store(hn::Mul(hn::Mul(cell, i), hn::NegMulAdd(g, g, one)), gates.candidate + j);
      Store(before_sigmoid(o, hn::Mul(from_hidden, squashed)), gates.output + j);
      Store(hn::Mul(cell, f), grad_cell + k);
    }
  }
}

}  // namespace

void FillRecurrent(Kernels& table) {
  table.lstm = LstmForward;
  table.lstm_backward = LstmBackward;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_recurrent(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillRecurrent, target, table); }
}  // namespace slimbayes::kernels
#endif
