#include "oracle/layers/contract.hpp"

namespace tally::relu_contract {
namespace {

const RegisterContract registered{{.section = "layer",
                                   .kind = "relu",
                                   .options = {},
                                   .definition = "y = max(x, 0), NaN passes; the derivative at 0 is 0"}};

}  // namespace
}  // namespace tally::relu_contract
