#pragma once

#include <memory>
#include <string>

#include "slimbayes/method/method.h"

namespace slimbayes::contract {

/// Returns the result of `make` for this key and keeps it until another key is asked for. Each clause is a
/// test case of its own; the cases of one subject run one after another and share the fit.
template <class Make>
const Fitted& fitted_once(const std::string& key, Make make) {
  static std::string last;
  static std::unique_ptr<Fitted> fitted;
  if (key != last || fitted == nullptr) {
    fitted = make();
    last = key;
  }
  return *fitted;
}

/// Returns the name with underscores in place of - and blanks, as gtest requires.
inline std::string test_name(std::string name) {
  for (char& c : name) c = c == '-' || c == ' ' ? '_' : c;
  return name;
}

}  // namespace slimbayes::contract
