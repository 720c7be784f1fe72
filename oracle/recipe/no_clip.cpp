#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{
    {.section = "clip", .kind = "none", .options = {}, .definition = "gradients are not clipped"}};

}  // namespace
}  // namespace tally
