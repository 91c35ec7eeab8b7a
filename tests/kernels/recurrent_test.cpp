#include <array>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class Recurrent : public EveryTarget {};

/// The sums of the gates and the cell before of one number of one row.
struct Sums {
  double i, f, g, o, before;

  double cell() const { return sigmoid(f) * before + sigmoid(i) * std::tanh(g); }
  double hidden() const { return sigmoid(o) * std::tanh(cell()); }
};

/// Rows of gates whose sums go far enough to saturate.
struct Problem {
  int64_t rows, width, ld;
  Matrix before, cell, squashed, hidden;
  std::vector<float> gates;
  std::vector<Sums> sums;  // row by row, without padding

  Problem(int64_t rows, int64_t width, bool first)
      : rows(rows),
        width(width),
        ld(padded(width)),
        before(rows, width, first ? 0 : 3, 2),
        cell(rows, width),
        squashed(rows, width),
        hidden(rows, width),
        gates(static_cast<size_t>(rows * 4 * ld)) {
    const Matrix drawn(rows * 4, width, 4, 6);
    for (int64_t r = 0; r < rows * 4; ++r)
      for (int64_t j = 0; j < width; ++j)
        gates[static_cast<size_t>(r * ld + j)] = static_cast<float>(drawn(r, j));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < width; ++j)
        sums.push_back({drawn(4 * r, j), drawn(4 * r + 1, j), drawn(4 * r + 2, j), drawn(4 * r + 3, j),
                        static_cast<const Matrix&>(before)(r, j)});
  }
  LstmCell step(bool first) {
    return {rows, width, gates.data(), first ? nullptr : before.data(), cell.data(), squashed.data()};
  }
  const Sums& of(int64_t r, int64_t j) const { return sums[static_cast<size_t>(r * width + j)]; }
  float gate(int64_t r, int64_t g, int64_t j) const {
    return gates[static_cast<size_t>((4 * r + g) * ld + j)];
  }
};

TEST_P(Recurrent, LstmStepIsThatOfFloat64) {
  for (const bool first : {false, true})
    for (const int64_t width : {1, 16, 37}) {
      Problem p(5, width, first);
      k().lstm(p.step(first), p.hidden.data(), p.hidden.ld);
      const Matrix &cell = p.cell, &hidden = p.hidden;
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t j = 0; j < width; ++j) {
          EXPECT_NEAR(cell(r, j), p.of(r, j).cell(), 1e-6);
          EXPECT_NEAR(hidden(r, j), p.of(r, j).hidden(), 1e-6);
        }
      EXPECT_TRUE(p.cell.padding_is_zero() && p.hidden.padding_is_zero());
    }
}

// Against central differences of a h + b c, where h is the hidden state and c the cell.
TEST_P(Recurrent, LstmGradientsAreDifferenceQuotients) {
  for (const bool first : {false, true}) {
    Problem p(3, 21, first);
    k().lstm(p.step(first), p.hidden.data(), p.hidden.ld);
    const Matrix a(p.rows, p.width, 7), b(p.rows, p.width, 8);
    Matrix to_cell = b;
    k().lstm_backward(p.step(first), a.data(), to_cell.data());
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t j = 0; j < p.width; ++j) {
        const auto slope = [&](double Sums::*by) {
          Sums up = p.of(r, j), down = up;
          up.*by += 1e-5;
          down.*by -= 1e-5;
          return (a(r, j) * (up.hidden() - down.hidden()) + b(r, j) * (up.cell() - down.cell())) / 2e-5;
        };
        const std::array gates = {&Sums::i, &Sums::f, &Sums::g, &Sums::o};
        for (size_t g = 0; g < 4; ++g)
          EXPECT_NEAR(p.gate(r, static_cast<int64_t>(g), j), slope(gates[g]), 2e-6);
        EXPECT_NEAR(static_cast<const Matrix&>(to_cell)(r, j), slope(&Sums::before), 2e-6);
      }
    EXPECT_TRUE(to_cell.padding_is_zero());
  }
}

TEST_P(Recurrent, LstmStepKeepsNaNAndEndures) {
  Problem p(1, 3, true);
  p.gates[0] = NAN;
  for (int64_t g = 0; g < 4; ++g) p.gates[static_cast<size_t>(g * p.ld + 1)] = 1e30F;
  for (int64_t g = 0; g < 4; ++g) p.gates[static_cast<size_t>(g * p.ld + 2)] = -INFINITY;
  k().lstm(p.step(true), p.hidden.data(), p.hidden.ld);
  const Matrix& hidden = p.hidden;
  EXPECT_TRUE(std::isnan(hidden(0, 0)));
  EXPECT_NEAR(hidden(0, 1), std::tanh(1.0), 1e-6);
  EXPECT_NEAR(hidden(0, 2), 0, 1e-30);
}

SLIMBAYES_EVERY_TARGET(Recurrent);

}  // namespace
}  // namespace slimbayes::kernels
