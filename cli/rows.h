#pragma once

#include "cli/request.h"

namespace slimbayes::cli {

/// What slimbayes_predict_rows() returns, before it has written anything, for a request that the engine must
/// answer.
inline constexpr int kLeftToTheEngine = -1;

}  // namespace slimbayes::cli

/// The only function that the plugin `slimbayes_rows` exports: answers `predict` without the tensor library,
/// which takes longer to load than a thousand rows to answer. It leaves to the engine what that must say
/// more about: models and tables that it does not know, errors, and notes on single answers. Returns
/// the exit code, or kLeftToTheEngine. Throws std::bad_alloc alone, before it has written anything.
extern "C" __attribute__((visibility("default"))) int slimbayes_predict_rows(
    const slimbayes::cli::Request& request);
