#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{
    {.section = "optimizer", .kind = "descent", .options = {}, .definition = "p <- p - rate g"}};

}  // namespace
}  // namespace tally
