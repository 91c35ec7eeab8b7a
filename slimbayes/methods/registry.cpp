#include "slimbayes/methods/registry.h"

#include <stdexcept>
#include <string>

namespace slimbayes {

// Each of these functions is defined in its method's own .cpp file.
std::unique_ptr<Method> make_dbk(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dbk(const TensorFile& file);
std::unique_ptr<Method> make_dbk_exact(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dbk_exact(const TensorFile& file);
std::unique_ptr<Method> make_vbll(const nlohmann::json& options);
std::unique_ptr<Fitted> load_vbll(const TensorFile& file);
std::unique_ptr<Method> make_sv_dkl(const nlohmann::json& options);
std::unique_ptr<Fitted> load_sv_dkl(const TensorFile& file);
std::unique_ptr<Method> make_pp_dkl(const nlohmann::json& options);
std::unique_ptr<Fitted> load_pp_dkl(const TensorFile& file);
std::unique_ptr<Method> make_sv_rbf(const nlohmann::json& options);
std::unique_ptr<Fitted> load_sv_rbf(const TensorFile& file);
std::unique_ptr<Method> make_sv_dbk(const nlohmann::json& options);
std::unique_ptr<Fitted> load_sv_dbk(const TensorFile& file);
std::unique_ptr<Method> make_dkl_exact(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dkl_exact(const TensorFile& file);
std::unique_ptr<Method> make_dnn(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dnn(const TensorFile& file);
std::unique_ptr<Method> make_bll(const nlohmann::json& options);
std::unique_ptr<Fitted> load_bll(const TensorFile& file);
std::unique_ptr<Method> make_rich_bll(const nlohmann::json& options);
std::unique_ptr<Fitted> load_rich_bll(const TensorFile& file);
std::unique_ptr<Method> make_ntk_gp(const nlohmann::json& options);
std::unique_ptr<Fitted> load_ntk_gp(const TensorFile& file);
std::unique_ptr<Method> make_ntk_sketch(const nlohmann::json& options);
std::unique_ptr<Fitted> load_ntk_sketch(const TensorFile& file);
std::unique_ptr<Method> make_last_layer_laplace(const nlohmann::json& options);
std::unique_ptr<Fitted> load_last_layer_laplace(const TensorFile& file);
std::unique_ptr<Method> make_mc_dropout(const nlohmann::json& options);
std::unique_ptr<Fitted> load_mc_dropout(const TensorFile& file);
std::unique_ptr<Method> make_swag(const nlohmann::json& options);
std::unique_ptr<Fitted> load_swag(const TensorFile& file);
std::unique_ptr<Method> make_bbb(const nlohmann::json& options);
std::unique_ptr<Fitted> load_bbb(const TensorFile& file);
std::unique_ptr<Method> make_full_rank(const nlohmann::json& options);
std::unique_ptr<Fitted> load_full_rank(const TensorFile& file);
std::unique_ptr<Method> make_low_rank(const nlohmann::json& options);
std::unique_ptr<Fitted> load_low_rank(const TensorFile& file);
std::unique_ptr<Method> make_low_rank_svd(const nlohmann::json& options);
std::unique_ptr<Fitted> load_low_rank_svd(const TensorFile& file);
std::unique_ptr<Method> make_low_rank_laplace(const nlohmann::json& options);
std::unique_ptr<Fitted> load_low_rank_laplace(const TensorFile& file);
std::unique_ptr<Method> make_rank_1(const nlohmann::json& options);
std::unique_ptr<Fitted> load_rank_1(const TensorFile& file);
std::unique_ptr<Method> make_fid_gp(const nlohmann::json& options);
std::unique_ptr<Fitted> load_fid_gp(const TensorFile& file);
std::unique_ptr<Method> make_fid_gp_reparam(const nlohmann::json& options);
std::unique_ptr<Fitted> load_fid_gp_reparam(const TensorFile& file);
std::unique_ptr<Method> make_ffg_u(const nlohmann::json& options);
std::unique_ptr<Fitted> load_ffg_u(const TensorFile& file);
std::unique_ptr<Method> make_batch_ensemble(const nlohmann::json& options);
std::unique_ptr<Fitted> load_batch_ensemble(const TensorFile& file);
std::unique_ptr<Method> make_f_sgvb_lrt(const nlohmann::json& options);
std::unique_ptr<Fitted> load_f_sgvb_lrt(const TensorFile& file);
std::unique_ptr<Method> make_ensemble(const nlohmann::json& options);
std::unique_ptr<Fitted> load_ensemble(const TensorFile& file);
std::unique_ptr<Method> make_auto(const nlohmann::json& options);
std::unique_ptr<Fitted> load_auto(const TensorFile& file);
std::unique_ptr<Method> make_ridge(const nlohmann::json& options);
std::unique_ptr<Fitted> load_ridge(const TensorFile& file);
std::unique_ptr<Method> make_logistic(const nlohmann::json& options);
std::unique_ptr<Fitted> load_logistic(const TensorFile& file);
std::unique_ptr<Method> make_extra_trees(const nlohmann::json& options);
std::unique_ptr<Fitted> load_extra_trees(const TensorFile& file);
std::unique_ptr<Method> make_constant(const nlohmann::json& options);
std::unique_ptr<Fitted> load_constant(const TensorFile& file);
std::unique_ptr<Method> make_bag_of_words(const nlohmann::json& options);
std::unique_ptr<Fitted> load_bag_of_words(const TensorFile& file);
std::unique_ptr<Method> make_gp_exact(const nlohmann::json& options);
std::unique_ptr<Fitted> load_gp_exact(const TensorFile& file);

namespace {

constexpr RegistryRow kRows[] = {
    {"auto", make_auto, load_auto},
    {"dbk", make_dbk, load_dbk},
    {"dbk-exact", make_dbk_exact, load_dbk_exact},
    {"vbll", make_vbll, load_vbll},
    {"sv-dkl", make_sv_dkl, load_sv_dkl},
    {"pp-dkl", make_pp_dkl, load_pp_dkl},
    {"sv-rbf", make_sv_rbf, load_sv_rbf},
    {"sv-dbk", make_sv_dbk, load_sv_dbk},
    {"dkl-exact", make_dkl_exact, load_dkl_exact},
    {"gp-exact", make_gp_exact, load_gp_exact},
    {"dnn", make_dnn, load_dnn},
    {"rich-bll", make_rich_bll, load_rich_bll},
    {"bll", make_bll, load_bll},
    {"last-layer-laplace", make_last_layer_laplace, load_last_layer_laplace},
    {"ntk-gp", make_ntk_gp, load_ntk_gp},
    {"ntk-sketch", make_ntk_sketch, load_ntk_sketch},
    {"mc-dropout", make_mc_dropout, load_mc_dropout},
    {"swag", make_swag, load_swag},
    {"bbb", make_bbb, load_bbb},
    {"full-rank", make_full_rank, load_full_rank},
    {"low-rank", make_low_rank, load_low_rank},
    {"low-rank-svd", make_low_rank_svd, load_low_rank_svd},
    {"low-rank-laplace", make_low_rank_laplace, load_low_rank_laplace},
    {"rank-1", make_rank_1, load_rank_1},
    {"fid-gp", make_fid_gp, load_fid_gp},
    {"fid-gp-reparam", make_fid_gp_reparam, load_fid_gp_reparam},
    {"ffg-u", make_ffg_u, load_ffg_u},
    {"batch-ensemble", make_batch_ensemble, load_batch_ensemble},
    {"f-sgvb-lrt", make_f_sgvb_lrt, load_f_sgvb_lrt},
    {"ensemble", make_ensemble, load_ensemble},
    {"ridge", make_ridge, load_ridge},
    {"logistic", make_logistic, load_logistic},
    {"extra-trees", make_extra_trees, load_extra_trees},
    {"bag-of-words", make_bag_of_words, load_bag_of_words},
    {"constant", make_constant, load_constant},
};

}  // namespace

std::span<const RegistryRow> registry() { return kRows; }

const RegistryRow& registry_row(std::string_view name) {
  const std::string& canonical = find_method(name).name;
  for (const RegistryRow& row : kRows) {
    if (row.name == canonical) return row;
  }
  throw std::logic_error("the catalogue lists '" + canonical + "' but the registry does not");
}

}  // namespace slimbayes
