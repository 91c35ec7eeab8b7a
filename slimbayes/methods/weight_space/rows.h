#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow mc_dropout_row();
RegistryRow swag_row();
RegistryRow bbb_row();
RegistryRow full_rank_row();
RegistryRow low_rank_row();
RegistryRow low_rank_svd_row();
RegistryRow low_rank_laplace_row();
RegistryRow rank_1_row();
RegistryRow fid_gp_row();
RegistryRow fid_gp_reparam_row();
RegistryRow ffg_u_row();
RegistryRow batch_ensemble_row();
RegistryRow f_sgvb_lrt_row();
RegistryRow ensemble_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> weight_space_rows() {
  return {mc_dropout_row(),       swag_row(),     bbb_row(),
          full_rank_row(),        low_rank_row(), low_rank_svd_row(),
          low_rank_laplace_row(), rank_1_row(),   fid_gp_row(),
          fid_gp_reparam_row(),   ffg_u_row(),    batch_ensemble_row(),
          f_sgvb_lrt_row(),       ensemble_row()};
}

}  // namespace slimbayes
