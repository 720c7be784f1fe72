// (constant.1), in binary64.
#include "kernels/training_step/kind_steps.hpp"

namespace tally::constant_steps {
namespace {

double rate(const Choice& schedule, std::int64_t) { return schedule.number("base").to_double(); }

const RegisterScheduleSteps registered("constant", {rate});

}  // namespace
}  // namespace tally::constant_steps
