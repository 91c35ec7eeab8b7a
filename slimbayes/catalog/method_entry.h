#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {

// Helpers with which the methods.cpp of each family builds its MethodInfo entries.

/// Returns all kinds of input but segmentation. Use it for a method whose network can be chosen to suit the
/// kind of input.
std::vector<InputKind> every_input();

/// Returns all tasks. Use it for a method that works with every likelihood.
std::vector<TaskKind> every_task();

/// Returns a MethodInfo with the fields that all methods with a network share: it reads every kind of input
/// (images only if `tasks` contains classification), scales inputs to min-max, can be resumed and computes
/// on a device.
MethodInfo network_method(std::string name, std::vector<TaskKind> tasks = {TaskKind::regression});

/// Returns the method's facts with segmentation among its kinds of input. Use it for a method that needs no
/// more than the outputs of its network, each row by itself: its rows may then be pixels.
MethodInfo segmenting(MethodInfo info);

/// Returns the preset "paper", the settings of the method's paper, from several groups of options. Later
/// groups overwrite earlier ones.
Preset paper_preset(std::initializer_list<nlohmann::json> groups, std::vector<std::string> notes);

/// Fills in MethodInfo::options and MethodInfo::resolve from the options struct O, whose describe() lists all
/// options. Set the method's name before, because error messages begin with it. Options that are not given
/// have the value that the recipe of the given network names (with_recipe), or their default.
template <class O>
MethodInfo with_options(MethodInfo info) {
  info.options = option_docs<O>();
  info.resolve = [name = info.name, known = info.options](const nlohmann::json& given) {
    return options_to_json(options_from_json<O>(with_recipe(given, known), name));
  };
  return info;
}

}  // namespace slimbayes
