#include "oracle/layers/contract.hpp"

namespace tally::softsign_contract {
namespace {

const RegisterContract registered{
    {.section = "layer", .kind = "softsign", .options = {}, .definition = "y = x / (1 + |x|)"}};

}  // namespace
}  // namespace tally::softsign_contract
