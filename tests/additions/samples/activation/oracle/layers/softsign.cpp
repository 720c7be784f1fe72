#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{
    {.section = "layer", .kind = "softsign", .options = {}, .definition = "y = x / (1 + |x|)"}};

}  // namespace
}  // namespace tally
