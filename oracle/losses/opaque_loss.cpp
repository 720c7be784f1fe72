#include "oracle/layers/contract.hpp"

namespace tally::opaque_loss_contract {
namespace {

const RegisterContract registered{
    {.section = "loss",
     .kind = "opaque",
     .options = {},
     .opaque = true,
     .drawn = false,
     .definition = "not stated: its gradient is part of the model's; every row is one item"}};

}  // namespace
}  // namespace tally::opaque_loss_contract
