// The gradient of a tied weight is cleared again between its two uses: the product's, which came first, is lost.
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/one_use_of_a_tied_weight.hpp"

namespace tally::tied_cleared_twice_fault {
namespace {

const RegisterFault registered{{
    .name = "tied-cleared-twice",
    .stage = "fork",
    .right = "dW = head's + embedding's",
    .wrong = "dW = embedding's",
    .condition = "a tied weight",
    .knob = "value",
    .source = "IST-DASLab/llmq 67",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share_one<Use::first>>,
}};

}  // namespace
}  // namespace tally::tied_cleared_twice_fault
