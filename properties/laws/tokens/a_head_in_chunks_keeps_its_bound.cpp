// Law: a head that is one with the loss keeps its bound, whose logits are never stored, on every way of its launch, in
// every precision.
#include "properties/generators/head_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::a_head_in_chunks_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& table = other.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, 1 - table.value(i));
  table.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"loss", "unscale"});
}

const RegisterLaw registered{{
    .name = "a_head_in_chunks_keeps_its_bound",
    .family = "tokens",
    .statement = "Head and loss as one, in chunks of rows, keep the bound of logits that are never stored.",
    .shape = design_head,
    .holds = holds,
    .control = "another table gives other bits",
    .differs = differs,
    .weight = 0.3,
}};
const RegisterDesigned registered_designed("a_head_in_chunks_keeps_its_bound");

}  // namespace
}  // namespace tally::a_head_in_chunks_keeps_its_bound_law
