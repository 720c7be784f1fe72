// Clips by norm and by value, and gradients that are not finite.
#include <cmath>

#include "properties/triggers/trigger.hpp"

namespace tally::clip_trigger {
namespace {

bool off(const Sight& s) { return s.c.recipe.clip.kind == "none"; }
bool by_norm(const Sight& s) { return s.c.recipe.clip.kind == "global_norm"; }
bool by_value(const Sight& s) { return s.c.recipe.clip.kind == "value"; }

/// Some window's norm over its limit lies in (low, high].
bool reach(const Sight& s, double low, double high) {
  if (!by_norm(s)) return false;
  const double most = s.c.recipe.clip.number("max_norm").to_double();
  for (std::size_t w = 0; w < s.windows(); ++w) {
    const double share = s.number(w, "norm", "norm") / most;
    if (share > low && share <= high) return true;
  }
  return false;
}
constexpr double near = 0x1p-10;  // a part in a thousand
bool inactive(const Sight& s) { return reach(s, 0, 1 - near); }
bool active(const Sight& s) { return reach(s, 1 + near, INFINITY); }
bool at_its_limit(const Sight& s) { return reach(s, 1 - near, 1 + near); }

template <char norm>
bool has_norm(const Sight& s) {
  return by_norm(s) && s.c.recipe.clip.text("norm").front() == norm;
}
bool not_one(const Sight& s) { return by_norm(s) && s.c.recipe.clip.number("max_norm").to_double() != 1; }

/// Whether the first parameter's gradient that reaches the norm holds a non-finite value, and whether a later one does.
bool non_finite_gradient(const Sight& s, bool first) {
  const auto parameters = parameters_of(s.c.model);
  for (std::size_t w = 0; w < s.windows(); ++w) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor* gradient = s.tap(w, "unscale", "d." + parameters[i]);
      for (std::size_t e = 0; gradient && e < gradient->elements(); ++e) {
        if (std::isfinite(gradient->value(e))) continue;
        if ((i == 0 && e == 0) == first) return true;
        break;
      }
    }
  }
  return false;
}
bool non_finite_first(const Sight& s) { return by_norm(s) && non_finite_gradient(s, true); }
bool non_finite_later(const Sight& s) { return by_norm(s) && non_finite_gradient(s, false); }
bool above_255_in_half(const Sight& s) {
  return s.any_value("backward", [](double v, Dtype d) { return d == Dtype::fp16 && std::fabs(v) > 255; });
}

/// Where overflow is judged by the norm, such a window is skipped for nothing.
bool large_in_one_pass(const Sight& s) {
  const auto& kernels = s.trace.claims.kernels;
  const bool fused = kernels.contains("unscale_check_norm") && kernels.at("norm").variant == "two_stage";
  if (!by_norm(s) || !fused || s.c.recipe.loss_scale.kind != "dynamic") return false;
  for (std::size_t w = 0; w < s.windows(); ++w) {
    if (s.skipped[w]) continue;
    for (const std::string& parameter : parameters_of(s.c.model)) {
      const Tensor* gradient = s.tap(w, "unscale", "d." + parameter);
      for (std::size_t i = 0; gradient && i < gradient->elements(); ++i) {
        if (std::fabs(gradient->value(i)) > 0x1p64) return true;
      }
    }
  }
  return false;
}
bool nothing_to_divide_by(const Sight& s) {
  if (!by_norm(s) || s.c.recipe.clip.number("epsilon").to_double() != 0) return false;
  for (std::size_t w = 0; w < s.windows(); ++w) {
    if (s.number(w, "norm", "norm") == 0) return true;
  }
  return false;
}

const RegisterTriggers registered{
    4,
    "clip",
    {{"no clip", TriggerKind::of_case, "", off},
     {"clip inactive", TriggerKind::of_case, "the norm stays below the limit", inactive},
     {"clip active", TriggerKind::of_case, "the norm is above the limit", active},
     {"norm at its limit", TriggerKind::of_case, "to a part in a thousand", at_its_limit},
     {"limit other than 1", TriggerKind::of_case, "", not_one},
     {"2-norm", TriggerKind::of_case, "", has_norm<'2'>},
     {"1-norm", TriggerKind::of_case, "", has_norm<'1'>},
     {"inf-norm", TriggerKind::of_case, "", has_norm<'i'>},
     {"clip by value", TriggerKind::of_case, "", by_value},
     {"first gradient element not finite", TriggerKind::of_case, "under a clip by norm", non_finite_first},
     {"later gradient element not finite", TriggerKind::of_case, "under a clip by norm", non_finite_later},
     {"gradient above 255 in fp16", TriggerKind::of_case, "its square overflows", above_255_in_half},
     {"finite gradient whose square overflows", TriggerKind::of_case,
      "above 2^64 after unscaling, under a dynamic scale, in one pass with the norm", large_in_one_pass},
     {"norm + epsilon = 0", TriggerKind::of_case, "a gradient of zero, and no epsilon", nothing_to_divide_by}}};

}  // namespace
}  // namespace tally::clip_trigger
