#include "kernels/training_step/kind_steps.hpp"

namespace tally::l2_steps {
namespace {

const RegisterDecaySteps registered("l2", {.operation = "decay.l2", .fused = DecayKind::l2});

}  // namespace
}  // namespace tally::l2_steps
