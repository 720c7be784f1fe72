#include "oracle/layers/contract.hpp"

namespace tally::silu_contract {
namespace {

const RegisterContract registered{
    {.section = "layer", .kind = "silu", .options = {}, .definition = "y = x / (1 + exp(-x))"}};

}  // namespace
}  // namespace tally::silu_contract
