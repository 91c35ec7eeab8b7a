#pragma once

#include <string>
#include <vector>

namespace slimbayes::cli {

/// Returns the Python that run_python() calls: the one that SLIMBAYES_PYTHON names, else python3.
std::string python_name();

/// Runs Python with these arguments on our standard streams, and returns its exit status; 128 and the number
/// of the signal that ended it. Throws std::runtime_error if there is no such program.
int run_python(const std::vector<std::string>& arguments);

}  // namespace slimbayes::cli
