#include "oracle/layers/contract.hpp"

namespace tally::tanh_contract {
namespace {

const RegisterContract registered{{.section = "layer", .kind = "tanh", .options = {}, .definition = "y = tanh(x)"}};

}  // namespace
}  // namespace tally::tanh_contract
