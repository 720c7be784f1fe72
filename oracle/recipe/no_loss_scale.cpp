#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract contract{
    {.section = "loss_scale", .kind = "none", .options = {}, .definition = "the loss is not scaled"}};

}  // namespace
}  // namespace tally
