// The product splits its terms over two parts, as a library does that finds too few tiles for its processors, and the
// claim still says that they are added one after another.
#include "properties/faults/seeded.hpp"

namespace tally::products_in_two_parts_fault {
namespace {

void split(Run& run, const GemmCall& call, const GemmOrder&) {
  stage::gemm(run, call, {.kind = GemmOrder::Kind::split_k, .parameter = 2});
}

const RegisterFault registered{{
    .name = "products-in-two-parts",
    .stage = "backward",
    .right = "Σ over k, one after another",
    .wrong = "Σ over the first half + Σ over the second",
    .condition = "three terms or more",
    .knob = "none",
    .source = "source mutation: a claim that names an order in which nothing is added",
    .laws = {"declared_order_gives_its_bits"},
    .stages = with_gemm<split>,
}};

}  // namespace
}  // namespace tally::products_in_two_parts_fault
