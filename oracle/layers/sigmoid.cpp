#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract contract{
    {.section = "layer", .kind = "sigmoid", .options = {}, .definition = "y = 1 / (1 + exp(-x))"}};

}  // namespace
}  // namespace tally
