#include "oracle/layers/contract.hpp"

namespace tally::no_weight_decay_contract {
namespace {

const RegisterContract registered{{.section = "weight_decay",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "parameters do not decay"}};

}  // namespace
}  // namespace tally::no_weight_decay_contract
