// Clips by norm and by value, and gradients that are not finite.
#include <cmath>

#include "properties/triggers/trigger.hpp"

namespace tally {
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
bool several_tensors(const Sight& s) { return by_norm(s) && parameters_of(s.c.model).size() > 24; }

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
     {"several launches", TriggerKind::of_kernel, "one norm over more than the 24 tensors of a launch",
      several_tensors}}};

}  // namespace
}  // namespace tally
