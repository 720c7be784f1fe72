#include "oracle/layers/contract.hpp"

namespace tally::batch_norm_contract {
namespace {

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const RegisterContract registered{
    {.section = "layer",
     .kind = "batch_norm",
     .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-5"}, .range = {.above = "0"}},
                 {.name = "momentum",
                  .type = OptionType::number,
                  .standard = Decimal{"0.1"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "affine", .type = OptionType::boolean, .standard = true},
                 {.name = "statistics",
                  .type = OptionType::text,
                  .standard = std::nullopt,
                  .words = {"micro_batch", "window", "frozen", "micro_step"}},
                 {.name = "running",
                  .type = OptionType::text,
                  .standard = std::string("first_rank"),
                  .words = {"first_rank", "each"},
                  .since = 3}},
     .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine},
                 {.name = "bias", .role = Role::parameter, .shape = per_feature, .present = affine},
                 {.name = "running_mean", .role = Role::running, .shape = per_feature},
                 {.name = "running_var", .role = Role::running, .shape = per_feature}},
     .norm = true,
     .definition = "y = (x - mean) / sqrt(biased variance + eps) * weight + bias, over rows"}};

}  // namespace
}  // namespace tally::batch_norm_contract
