#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "slimbayes/ntk/enrichment.h"
#include "tests/ntk/networks.h"

namespace slimbayes {

/// Returns (J^T Q)^T (J^T Q) from the explicit gradients.
inline at::Tensor dense_gram(const GradientModel& model, const GradientRows& rows, const at::Tensor& q) {
  const at::Tensor a = at::matmul(dense_gradients(model, rows).t(), q);
  return at::matmul(a.t(), a);
}

inline Enrichment by(const std::string& route, const GradientModel& model, const GradientRows& rows,
                     const at::Tensor& q) {
  return enrichment(model, rows, q, {.route = route}, Stream(9));
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace slimbayes
