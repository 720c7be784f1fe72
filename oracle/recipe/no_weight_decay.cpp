#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{
    {.section = "weight_decay", .kind = "none", .options = {}, .definition = "parameters do not decay"}};

}  // namespace
}  // namespace tally
