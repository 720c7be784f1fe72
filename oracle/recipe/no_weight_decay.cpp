#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract contract{
    {.section = "weight_decay", .kind = "none", .options = {}, .definition = "parameters do not decay"}};

}  // namespace
}  // namespace tally
