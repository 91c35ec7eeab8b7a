#include "slimbayes/basis/basis.h"

#include "slimbayes/core/check.h"

namespace slimbayes {

// Each expansion has a .cpp file of its own, which defines these two functions.
std::vector<ParameterSpec> silu_parameters(const BasisStart& start);
std::shared_ptr<const Basis> bind_silu(const std::string& prefix, const Network::Lookup& lookup);
std::vector<ParameterSpec> rbf_parameters(const BasisStart& start);
std::shared_ptr<const Basis> bind_rbf(const std::string& prefix, const Network::Lookup& lookup);
std::vector<ParameterSpec> linear_parameters(const BasisStart& start);
std::shared_ptr<const Basis> bind_linear(const std::string& prefix, const Network::Lookup& lookup);
std::vector<ParameterSpec> fourier_parameters(const BasisStart& start);
std::shared_ptr<const Basis> bind_fourier(const std::string& prefix, const Network::Lookup& lookup);

namespace {

struct Row {
  const char* name;
  std::vector<ParameterSpec> (*start)(const BasisStart& start);
  std::shared_ptr<const Basis> (*bind)(const std::string& prefix, const Network::Lookup& lookup);
};

constexpr Row kRows[] = {
    {"silu", silu_parameters, bind_silu},
    {"rbf", rbf_parameters, bind_rbf},
    {"linear", linear_parameters, bind_linear},
    {"fourier", fourier_parameters, bind_fourier},
};

const Row& row_of(const std::string& name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row;
  }
  refuse("basis", "silu, rbf, linear or fourier", "'" + name + "'");
}

}  // namespace

std::vector<ParameterSpec> basis_parameters(const std::string& name, const BasisStart& start) {
  if (!(start.hidden > 0 && start.rank > 0))
    refuse("basis", "a width and a rank of at least one",
           std::to_string(start.hidden) + " and " + std::to_string(start.rank));
  return row_of(name).start(start);
}

std::shared_ptr<const Basis> bind_basis(const std::string& name, const std::string& prefix,
                                        const Network::Lookup& lookup) {
  return row_of(name).bind(prefix, lookup);
}

}  // namespace slimbayes
