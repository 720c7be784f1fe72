// Kinds that have a contract and no formula: those that do nothing to what they are given, and a model and a loss that
// only a capture knows.
#include "oracle/case/contract.hpp"

namespace tally::opaque_contract {
namespace {

/// `out` columns of outputs, which a loss reads where a capture has them.
const Register<Contract> registered{
    {.section = "layer",
     .kind = "opaque",
     .options = {{.name = "out", .type = OptionType::integer, .standard = std::int64_t{1}, .range = {.at_least = "1"}},
                 {.name = "tensors", .type = OptionType::shapes, .standard = std::nullopt}},
     .parameters_by = "tensors",
     .opaque = true,
     .drawn = false,
     .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("out"); },
     .definition = "not stated: a capture's outputs and gradients stand for it"}};

}  // namespace
}  // namespace tally::opaque_contract

namespace tally::opaque_loss_contract {
namespace {

const Register<Contract> registered{
    {.section = "loss",
     .kind = "opaque",
     .options = {},
     .opaque = true,
     .drawn = false,
     .definition = "not stated: its gradient is part of the model's; every row is one item"}};

}  // namespace
}  // namespace tally::opaque_loss_contract

namespace tally::no_clip_contract {
namespace {

const Register<Contract> registered{{.section = "clip",
                                     .kind = "none",
                                     .options = {},
                                     .does_nothing = true,
                                     .definition = "gradients are not clipped"}};

}  // namespace
}  // namespace tally::no_clip_contract

namespace tally::no_loss_scale_contract {
namespace {

const Register<Contract> registered{{.section = "loss_scale",
                                     .kind = "none",
                                     .options = {},
                                     .does_nothing = true,
                                     .definition = "the loss is not scaled"}};

}  // namespace
}  // namespace tally::no_loss_scale_contract

namespace tally::no_weight_decay_contract {
namespace {

const Register<Contract> registered{{.section = "weight_decay",
                                     .kind = "none",
                                     .options = {},
                                     .does_nothing = true,
                                     .definition = "parameters do not decay"}};

}  // namespace
}  // namespace tally::no_weight_decay_contract

namespace tally::static_loss_scale_contract {
namespace {

const Register<Contract> registered{
    {.section = "loss_scale",
     .kind = "static",
     .options = {{.name = "scale", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}}},
     .first_scale = "scale",
     .definition = "one scale for all windows, which never skips"}};

}  // namespace
}  // namespace tally::static_loss_scale_contract
