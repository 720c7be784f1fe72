#include "kernels/training_step/kind_steps.hpp"

namespace tally::decoupled_steps {
namespace {

const RegisterDecaySteps registered("decoupled", {.operation = "decay.decoupled", .fused = DecayKind::decoupled});

}  // namespace
}  // namespace tally::decoupled_steps
