#include "oracle/layers/contract.hpp"

namespace tally::sigmoid_contract {
namespace {

const RegisterContract registered{
    {.section = "layer", .kind = "sigmoid", .options = {}, .definition = "y = 1 / (1 + exp(-x))"}};

}  // namespace
}  // namespace tally::sigmoid_contract
