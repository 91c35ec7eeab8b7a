#pragma once

#include <memory>
#include <string>

#include "slimbayes/families/method.h"

namespace slimbayes::contract {

/// What `make` returns for this key, kept until another one is asked for. The clauses of one subject are test
/// cases of their own that follow each other and look at one fit.
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

/// A name that gtest accepts.
inline std::string test_name(std::string name) {
  for (char& c : name) c = c == '-' || c == ' ' ? '_' : c;
  return name;
}

}  // namespace slimbayes::contract
