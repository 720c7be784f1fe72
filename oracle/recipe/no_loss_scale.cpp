#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{{.section = "loss_scale",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "the loss is not scaled"}};

}  // namespace
}  // namespace tally
