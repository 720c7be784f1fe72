// rms_norm and layer_norm of the same rows: 3 to 777 features; values around 0, around 1, with outliers, around 32.
#include "oracle/case/io.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"
#include "properties/studies/language_models/drawing.hpp"
#include "properties/studies/language_models/family.hpp"

namespace tally::norms_study {
namespace {

constexpr std::array<std::int64_t, 6> widths{33, 64, 3, 256, 777, 100};

/// Values of the table: a family of drawings, and where they lie.
struct Values {
  const char* family;
  double shift;
};
constexpr std::array<Values, 4> values{{{"normal", 0}, {"normal", 32}, {"outlier", 0}, {"positive", 0}}};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "norms");
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 4>{4, 17, 40, 100});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.tokens.width = widths[number % widths.size()];
  plan.input = 40;
  const bool affine = random.below(4) != 0, offset = random.below(2) == 0;
  plan.hidden = {
      reading(layer("rms_norm", "rms", {{"affine", affine}, {"offset", Decimal{affine && offset ? "1" : "0"}}}),
              {"wte"}),
      reading(layer("layer_norm", "ln"), {"wte"}), sum_of("sum", {"rms", "ln"})};
  Case c = case_of(plan);
  const Values& drawn = values[number / widths.size() % 2 * 2 + number % 2];
  Tensor& table = c.tensors.at("wte.weight");
  draw(table, {1, plan.seed, drawn.family});
  move_table(c, 1, drawn.shift);
  return c;
}

Way way(const std::string& layer_norm, const std::string& rms_norm, std::vector<OtherClaim> others) {
  Way made{{{"layer_norm.forward", layer_norm}}, std::move(others)};
  if (rms_norm.empty()) return made;
  for (const char* operation : {"rms_norm.forward", "rms_norm.backward", "rms_norm.weight_gradient"})
    made.kernels[operation] = rms_norm;
  return made;
}

LayerFamily norm_layers() {
  const OtherClaim cast_last{"cast behind the weight",
                             {{"rms_norm.forward", "cast_last"},
                              {"rms_norm.backward", "cast_last"},
                              {"rms_norm.weight_gradient", "cast_last"}}};
  const OtherClaim two_pass{"two_pass", {{"layer_norm.forward", "two_pass"}}, false};
  return {
      "norms",
      drawn,
      {{"forward", "rms.rstd", "rms_norm rstd", "rms_norm.forward"},
       {"forward", "rms.y", "rms_norm y", "rms_norm.forward"},
       {"backward", "d.rms.x", "rms_norm dx", "rms_norm.backward"},
       {"backward", "d.rms.weight", "rms_norm dw", "rms_norm.weight_gradient"},
       {"forward", "ln.mean", "layer_norm mean", "layer_norm.forward"},
       {"forward", "ln.rstd", "layer_norm rstd", "layer_norm.forward"},
       {"forward", "ln.y", "layer_norm y", "layer_norm.forward"},
       {"backward", "d.ln.x", "layer_norm dx", "layer_norm.backward"},
       {"backward", "d.ln.weight", "layer_norm dw", "layer_norm.parameter_gradients"},
       {"backward", "d.ln.bias", "layer_norm db", "layer_norm.parameter_gradients"}},
      {way("two_pass", "", {}), way("one_pass", "cast_first", {cast_last, two_pass}), way("welford", "", {two_pass})}};
}

const RegisterLayerFamily registered(2, norm_layers());

}  // namespace
}  // namespace tally::norms_study
