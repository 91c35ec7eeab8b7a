#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "slimbayes/methods/method.h"

namespace slimbayes {

// The makers and loaders of every method, for the registry. Makers throw std::invalid_argument for options
// that the method's describe() does not permit; loaders throw DataError for a file that misses something.

std::unique_ptr<Method> make_dbk(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dbk(const TensorFile& file);

std::unique_ptr<Method> make_dnn(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dnn(const TensorFile& file);

std::unique_ptr<Method> make_gp_exact(const nlohmann::json& options);
std::unique_ptr<Fitted> load_gp_exact(const TensorFile& file);

}  // namespace slimbayes
