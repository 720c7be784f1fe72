// Law: the same 32 rows, cut into 1, 2, 4, … 32 micro-batches, stay inside the bound however many there are; the drift
// that each cut shows is what the report plots against K.
#include "properties/generators/choices.hpp"
#include "properties/laws/any_case.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::many_micro_batches_stay_bounded_law {
namespace {

constexpr std::int64_t rows = 32;

void shape(Plan& plan) {
  const std::int64_t micro_batches = std::int64_t{1} << (plan.seed % 6);
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches), rows / micro_batches)};
  plan.input = 16;
  plan.outputs = 4;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{16}}}), layer("relu")};
  plan.loss = choice("loss", "cross_entropy");
  plan.ignored_percent = 0;
  plan.normalisation = Normalisation::window_items;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"256"}}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case summed = c;
  summed.normalisation = Normalisation::sum;
  return bits_differ(run(c, subject), run(summed, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "many_micro_batches_stay_bounded",
    .family = "scale",
    .statement = "The same rows stay inside the bound however many micro-batches they are cut into.",
    .shape = shape,
    .holds = holds,
    .control = "summing instead of averaging gives other gradients",
    .differs = differs,
    .weight = 2,
}};
const RegisterAnyCase registered_any_case("many_micro_batches_stay_bounded");

}  // namespace
}  // namespace tally::many_micro_batches_stay_bounded_law
