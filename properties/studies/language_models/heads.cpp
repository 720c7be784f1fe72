// The head of a language model with its loss: 10 to 4,000 classes, logits from nearly equal to far apart; by a product
// and a softmax, or as one.
#include "properties/generators/choices.hpp"
#include "properties/studies/language_models/drawing.hpp"
#include "properties/studies/language_models/family.hpp"

namespace tally::heads_study {
namespace {

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "heads");
  constexpr std::array<std::int64_t, 4> classes{100, 1000, 10, 4000};
  constexpr std::array<double, 3> sizes{1, 0x1p-6, 8};
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 3>{4, 9, 24});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.tokens.width = one_of(random, std::array<std::int64_t, 3>{4, 16, 32});
  plan.outputs = classes[number % classes.size()];
  plan.loss.options["z_loss"] = Decimal{random.below(3) == 0 ? "0.25" : "0"};
  plan.loss.options["label_smoothing"] = Decimal{random.below(3) == 0 ? "0.1" : "0"};
  Case c = case_of(plan);
  move_table(c, sizes[number % sizes.size()]);
  return c;
}

LayerFamily heads_with_losses() {
  const OtherClaim three_pass{"three_pass", {{"cross_entropy", "three_pass"}}, false};
  return {"heads and losses",
          drawn,
          {{"loss", "loss", "cross_entropy loss", "cross_entropy"},
           {"loss", "d.y", "cross_entropy dz", "cross_entropy"},
           {"loss", "loss", "head and loss as one: loss", "head_loss"},
           {"backward", "d.out.x", "head and loss as one: dx", "head_loss"},
           {"backward", "d.out.weight", "head and loss as one: dW", "head_loss"},
           {"backward", "d.out.bias", "head and loss as one: db", "head_loss"}},
          {{}, {{{"cross_entropy", "online"}}, {three_pass}}, {{{"head_loss", "chunked"}}}}};
}

const RegisterLayerFamily registered(6, heads_with_losses());

}  // namespace
}  // namespace tally::heads_study
