#pragma once
// The precompiled header of the engine. ATen alone: torch/torch.h would cost 7 s a file instead of 3.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
