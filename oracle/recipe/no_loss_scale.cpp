#include "oracle/layers/contract.hpp"

namespace tally::no_loss_scale_contract {
namespace {

const RegisterContract registered{{.section = "loss_scale",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "the loss is not scaled"}};

}  // namespace
}  // namespace tally::no_loss_scale_contract
