#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{{.section = "weight_decay",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "parameters do not decay"}};

}  // namespace
}  // namespace tally
