#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{{.section = "layer",
                                   .kind = "relu",
                                   .options = {},
                                   .definition = "y = max(x, 0), NaN passes; the derivative at 0 is 0"}};

}  // namespace
}  // namespace tally
