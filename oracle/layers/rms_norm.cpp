#include "oracle/layers/contract.hpp"

namespace tally::rms_norm_contract {
namespace {

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const RegisterContract registered{
    {.section = "layer",
     .kind = "rms_norm",
     .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-6"}, .range = {.above = "0"}},
                 {.name = "affine", .type = OptionType::boolean, .standard = true},
                 {.name = "offset", .type = OptionType::number, .standard = Decimal{"0"}}},
     .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine}},
     .drawn = false,
     .norm = true,
     .row_statistics = {{.name = "rstd"}},
     .definition = "y = x / sqrt(mean of x² + eps) * (offset + weight), over features"}};

}  // namespace
}  // namespace tally::rms_norm_contract
