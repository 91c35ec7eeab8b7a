#include "slimbayes/storage/contents.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/json_depth.h"

namespace slimbayes {

const std::string& stored_text(const TensorFile& file, const std::string& key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw DataError(kContentsName, fmt::format("holds no '{}'", key));
  return found->second;
}

nlohmann::json stored_json(const TensorFile& file, const std::string& key) {
  constexpr int kDeepest = 32;
  const std::string& text = stored_text(file, key);
  if (!nests_at_most(text, kDeepest))
    throw DataError(kContentsName, fmt::format("its '{}' is nested too deep", key));
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) throw DataError(kContentsName, fmt::format("its '{}' is not JSON", key));
  return value;
}

void read_contents(const std::string& file, const std::string& hint, const std::function<void()>& read) {
  const auto refuse = [&](std::string_view what) {
    const std::string own = std::string(kContentsName) + ": ";
    if (what.starts_with(own)) what.remove_prefix(own.size());
    throw DataError(file, fmt::format("{}; {}", what, hint));
  };
  try {
    read();
  } catch (const DataError& error) {
    refuse(error.what());
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  } catch (const NumericalError& error) {
    refuse(error.what());
  } catch (const nlohmann::json::exception&) {
    refuse("expected the metadata that slimbayes writes; received others: it is damaged");
  }
}

}  // namespace slimbayes
