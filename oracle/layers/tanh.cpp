#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{{.section = "layer", .kind = "tanh", .options = {}, .definition = "y = tanh(x)"}};

}  // namespace
}  // namespace tally
