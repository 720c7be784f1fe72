// The step is taken where i % K = 0: after the first micro-batch of every window, not after the last.
#include "properties/faults/planted_window.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::boundary_off_by_one_fault {
namespace {

bool steps_after(const Run&, int k) { return k == 0; }

const RegisterFault registered{{
    .name = "boundary-off-by-one",
    .stage = "unscale",
    .right = "step when (i + 1) % K = 0",
    .wrong = "step when i % K = 0",
    .condition = "K > 1",
    .knob = "none",
    .source = "LLMs-from-scratch 299, accelerate 435",
    .laws = {"every_window_takes_its_step"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::boundary_off_by_one_fault
