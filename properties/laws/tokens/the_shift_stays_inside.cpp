// Law: the shift stays inside its sequence. A row is scored by the label of the next row of its own sequence; the first
// label of a sequence scores nothing, so that another one changes no bit and no count.
#include "oracle/case/sequences.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::the_shift_stays_inside_law {
namespace {

const std::vector<std::string> everything{"cast", "forward",    "loss",    "backward",
                                          "fork", "accumulate", "unscale", "optimizer"};

void shape(Plan& plan) {
  read_tokens(plan);
  plan.loss.options["shift"] = true;
}

/// Another class in every row that stands at this place of its sequence; an ignored row gets a label.
Case with_other_labels(Case c, std::int64_t place) {
  const std::int64_t classes = features_after(c.model, c.model.layers.size() - 1);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  Tensor& target = c.tensors.at("target");
  for (std::size_t row = 0; row < places.size(); ++row)
    if (places[row] == place)
      target.set_bits(row, static_cast<std::uint64_t>((std::max<std::int64_t>(target.integer(row), 0) + 1) % classes));
  target.drawing.reset();
  return c;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!shifts_labels(c.model.loss)) return not_for("a loss that shifts its labels");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const Case other = with_other_labels(c, 0);
  const CheckedRun changed = run_and_check(other, subject);
  add(straight.outcome, changed.outcome);
  require_equal_bits(straight.outcome, straight.trace, changed.trace, everything,
                     "the first label of a sequence changed something");
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_labels(c, 1), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "the_shift_stays_inside",
    .family = "tokens",
    .statement = "A row is scored by the next label of its own sequence: a sequence's first label changes no bit.",
    .shape = shape,
    .holds = holds,
    .control = "other second labels give other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::the_shift_stays_inside_law
