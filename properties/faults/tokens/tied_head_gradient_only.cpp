// A tied weight takes the gradient of the product alone: what its look-ups give is lost.
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/one_use_of_a_tied_weight.hpp"

namespace tally::tied_head_gradient_only_fault {
namespace {

const RegisterFault registered{{
    .name = "tied-head-gradient-only",
    .stage = "fork",
    .right = "dW = head's + embedding's",
    .wrong = "dW = head's",
    .condition = "a tied weight",
    .knob = "value",
    .source = "paiml/entrenar 314, huggingface/peft 1750",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share_one<Use::last>>,
}};

}  // namespace
}  // namespace tally::tied_head_gradient_only_fault
