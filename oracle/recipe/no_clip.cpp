#include "oracle/layers/contract.hpp"

namespace tally::no_clip_contract {
namespace {

const RegisterContract registered{{.section = "clip",
                                   .kind = "none",
                                   .options = {},
                                   .does_nothing = true,
                                   .definition = "gradients are not clipped"}};

}  // namespace
}  // namespace tally::no_clip_contract
