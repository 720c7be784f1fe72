#include "oracle/layers/contract.hpp"

namespace tally::layer_norm_contract {
namespace {

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const RegisterContract registered{
    {.section = "layer",
     .kind = "layer_norm",
     .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-5"}, .range = {.above = "0"}},
                 {.name = "affine", .type = OptionType::boolean, .standard = true}},
     .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine},
                 {.name = "bias", .role = Role::parameter, .shape = per_feature, .present = affine}},
     .norm = true,
     .row_statistics = {{.name = "mean"}, {.name = "rstd"}},
     .definition = "y = (x - mean) / sqrt(biased variance + eps) * weight + bias, over features"}};

}  // namespace
}  // namespace tally::layer_norm_contract
