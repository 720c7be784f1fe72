// Law: non-finite values appear exactly where the definition says: of all rows only the one that is huge may leave the
// range, and no later micro-batch sees it.
// Vacuous where nothing overflows. Row 0 of the first micro-batch is huge; layers act on rows alone.
#include <cmath>
#include <utility>

#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::non_finite_stays_in_its_rows_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{3}}}), layer("relu"), layer("layer_norm", "norm1")};
  plan.gradient_magnitude = 1;
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}});
}

/// Row 0 times its first weight leaves the range; every other row has a product of ordinary size.
Case with_a_huge_row(Case c) {
  const bool narrow = !format_row(c.precision.storage).has_range_of_fp32();
  for (const auto& [name, value] : {std::pair{"x", narrow ? 0x1p15 : 0x1p126}, {"fc1.weight", 8.0}}) {
    Tensor& tensor = c.tensors.at(name);
    tensor.set(0, value);
    tensor.drawing.reset();
  }
  return c;
}

/// Elements of the first layer's output that are not finite: of row 0, and of all other rows.
struct Census {
  std::size_t huge = 0, others = 0;
};

Census census_of(const Trace& trace) {
  Census census;
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != "forward" || tap.name.tensor != "fc1.y") continue;
    const auto width = static_cast<std::size_t>(tap.value.shape[1]);
    for (std::size_t i = 0; i < tap.value.elements(); ++i) {
      const bool first = tap.name.window == 0 && tap.name.micro_batch == 0 && i < width;
      (first ? census.huge : census.others) += !std::isfinite(tap.value.value(i));
    }
  }
  return census;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(with_a_huge_row(c), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Census census = census_of(judged.trace);
  require(judged.outcome, census.others == 0, "forward/fc1.y", "forward",
          std::to_string(census.others) + " elements of rows that are not huge are not finite");
  Outcome outcome = settled(std::move(judged.outcome));
  return census.huge == 0 ? vacuous(std::move(outcome), "no activation overflowed") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return census_of(run(with_a_huge_row(c), subject)).huge > 0 && census_of(run(c, subject)).huge == 0;
}

const RegisterLaw registered{{
    .name = "non_finite_stays_in_its_rows",
    .family = "kernels",
    .statement = "Non-finite values appear exactly where the oracle says, and in no other row.",
    .shape = shape,
    .holds = holds,
    .control = "the same case without the huge row stays finite",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::non_finite_stays_in_its_rows_law
