// Stacks of linear, LayerNorm and GELU in 16 bits, as they are trained: the local lens decides them; where the bound
// of the whole chain exceeds the signal, the end-to-end lens says so tensor by tensor, and of no gradient that it is 0.
#include "oracle/case/io.hpp"
#include "properties/laws/run_and_check.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::sixteen_bit_nets_test {
namespace {

void draw_as_torch_does(Case& c, unsigned seed) {
  std::mt19937_64 random(seed);
  for (auto& [name, tensor] : c.tensors) {
    if (tensor.dtype == Dtype::u8 || tensor.dtype == Dtype::i64) continue;
    const double inputs = tensor.shape.size() == 2 ? static_cast<double>(tensor.shape[1]) : 32;
    std::uniform_real_distribution<double> uniform(-1 / std::sqrt(inputs), 1 / std::sqrt(inputs));
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      const bool norm = name.starts_with("ln");
      tensor.set(i, name == "x" ? normal(random) : !norm ? uniform(random) : name.ends_with(".weight") ? 1 : 0);
    }
  }
}

Case stack(Dtype storage, int linears, unsigned seed) {
  Case c = small_case();
  c.precision.storage = storage;
  c.model.input = 32;
  c.model.layers.clear();
  for (int i = 0; i < linears; ++i) {
    const bool last = i + 1 == linears;
    c.model.layers.push_back(layer_of("linear", "fc" + std::to_string(i), {{"out", std::int64_t{last ? 10 : 32}}}));
    if (last) break;
    c.model.layers.push_back(layer_of("layer_norm", "ln" + std::to_string(i)));
    c.model.layers.push_back(layer_of("gelu", ""));
  }
  c.windows = {{16, 16}};
  c.recipe.optimizer = choice_of("optimizer", "adam");
  c.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.001"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_as_torch_does(c, seed);
  return c;
}

TEST(SixteenBitNets, AreJudgedAndNoGradientIsCalledZero) {
  struct Net {
    Dtype storage;
    int linears;
  };
  for (const Net& net : {Net{Dtype::bf16, 3}, Net{Dtype::bf16, 4}, Net{Dtype::fp16, 4}}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const Case c = stack(net.storage, net.linears, seed);
      ASSERT_TRUE(validate(c).empty());
      const CheckedRun judged = run_and_check(c, RunOptions{});
      const auto& checks = judged.outcome.checks;
      EXPECT_EQ(judged.outcome.status, Status::pass) << judged.outcome.message;
      for (const TensorCheck& check : checks) {
        EXPECT_FALSE(check.zero_signal && check.norm_expected > 0) << check.tap;
      }
      const auto vacuous_local = std::count_if(checks.begin(), checks.end(), [](const TensorCheck& check) {
        return check.lens == "local" && check.status == Status::vacuous;
      });
      EXPECT_EQ(vacuous_local, 0);
    }
  }
}

}  // namespace
}  // namespace tally::sixteen_bit_nets_test
