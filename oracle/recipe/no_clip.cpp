#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{{.section = "clip",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "gradients are not clipped"}};

}  // namespace
}  // namespace tally
