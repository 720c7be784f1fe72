#include "oracle/layers/contract.hpp"

namespace tally::descent_contract {
namespace {

const RegisterContract registered{
    {.section = "optimizer", .kind = "descent", .options = {}, .definition = "p <- p - rate g"}};

}  // namespace
}  // namespace tally::descent_contract
