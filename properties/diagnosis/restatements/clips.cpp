// Restatements of where, and whether, gradients are clipped.
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::clips_restatement {
namespace {

/// A clip at this place. It would be of another norm as well where gradients are scaled.
Restated clipped_at(const Case& c, ClipPlace place, const std::string& formula) {
  Restated way;
  const bool otherwise = place != ClipPlace::before_unscale && written_scale(c.recipe.loss_scale) != nullptr;
  way.changed = otherwise ? 3 : 1;
  way.departure.clip = place;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_left_out{{
    .name = "clip-left-out",
    .sentence = "nothing is clipped",
    .formula = "g = g, whatever its norm",
    .remedy =
        "call `clip_grad_norm_` behind the window's last `backward()` and before `optimizer.step()`, or state no clip",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip)) return {};
      Restated way;
      way.change = [](Case& other) { other.recipe.clip = {"none", {}}; };
      return {way};
    },
}};

const RegisterRestatement registered_per_micro_batch{{
    .name = "clip-per-microbatch",
    .sentence = "every micro-batch is clipped before the next one is added",
    .formula = "A = Σ clip(s_k)",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip)) return {};
      return {clipped_at(c, ClipPlace::each_gradient, "A = Σ clip(s_k)"),
              clipped_at(c, ClipPlace::running_sum, "A = clip(clip(s_0) + s_1) + …")};
    },
}};

const RegisterRestatement registered_before_unscale{{
    .name = "clip-before-unscale",
    .sentence = "the norm is that of the scaled gradient: clipping comes before unscaling",
    .formula = "norm = |A|",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip) || written_scale(c.recipe.loss_scale) == nullptr) return {};
      return {clipped_at(c, ClipPlace::before_unscale, "norm = |A|")};
    },
}};

}  // namespace
}  // namespace tally::clips_restatement
