// Coverage of the update: clips, loss scales and overflows, optimizer, decay and learning rate.
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

// Clips by norm and by value, and gradients that are not finite.
namespace tally::clip_trigger {
namespace {

bool off(const Sight& s) { return s.c.recipe.clip.kind == kinds::none; }
bool by_norm(const Sight& s) { return s.c.recipe.clip.kind == kinds::global_norm; }
bool by_value(const Sight& s) { return s.c.recipe.clip.kind == kinds::value; }

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
  if (!by_norm(s) || !fused || s.c.recipe.loss_scale.kind != kinds::dynamic) return false;
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

const Register<TriggerGroup> registered{
    {4,
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
      {"norm + epsilon = 0", TriggerKind::of_case, "a gradient of zero, and no epsilon", nothing_to_divide_by}}}};

}  // namespace
}  // namespace tally::clip_trigger

// Loss scales, and windows that overflow.
namespace tally::loss_scale_trigger {
namespace {

double scale_of(const Sight& s) {
  const Choice& scale = s.c.recipe.loss_scale;
  if (scale.kind == kinds::none) return 1;
  return scale.number(scale.kind == kinds::fixed ? "scale" : "initial").to_double();
}

bool is_one(const Sight& s) { return scale_of(s) == 1; }
bool is_256(const Sight& s) { return scale_of(s) == 256; }
bool is_65536(const Sight& s) { return scale_of(s) == 65536; }
bool no_power_of_two(const Sight& s) {
  int exponent = 0;
  return std::frexp(scale_of(s), &exponent) != 0.5;
}

bool scale_moves(const Sight& s, bool up) {
  for (std::size_t w = 0; w + 1 < s.windows(); ++w) {  // the window after it runs under another scale
    const double before = s.number(w, "scaler", "in.scale"), after = s.number(w, "scaler", "scale");
    if (up ? after > before : after < before) return true;
  }
  return false;
}
bool grows(const Sight& s) { return scale_moves(s, true); }
bool backs_off(const Sight& s) { return scale_moves(s, false); }

bool below_one(const Sight& s) {
  for (std::size_t w = 0; w + 1 < s.windows(); ++w) {
    const double before = s.number(w, "scaler", "in.scale"), after = s.number(w, "scaler", "scale");
    if (after < before && after < 1) return true;
  }
  return false;
}

enum class Place { first, middle, last };
template <Place place>
bool overflow_in(const Sight& s) {
  for (std::size_t w = 0; w < s.windows(); ++w) {
    const int k = s.overflowed[w], last = static_cast<int>(s.c.windows[w].size()) - 1;
    if (k < 0 || last < 1) continue;
    if (place == (k == 0 ? Place::first : k == last ? Place::last : Place::middle)) return true;
  }
  return false;
}

bool skips_then(const Sight& s, bool again) {
  for (std::size_t w = 1; w < s.windows(); ++w) {
    if (s.skipped[w - 1] && s.skipped[w] == again) return true;
  }
  return false;
}
bool twice(const Sight& s) { return skips_then(s, true); }
bool recovers(const Sight& s) { return skips_then(s, false); }
bool resumed(const Sight& s) {
  return s.c.recipe.loss_scale.kind == kinds::dynamic && s.drawn.recipe.loss_scale.kind == kinds::dynamic &&
         s.c.recipe.loss_scale.integer("growth_counter") > 0 &&
         s.drawn.recipe.loss_scale.integer("growth_counter") == 0;
}

const Register<TriggerGroup> registered{
    {3,
     "loss scale",
     {{"scale 1", TriggerKind::of_case, "or none", is_one},
      {"scale 2^8", TriggerKind::of_case, "", is_256},
      {"scale 2^16", TriggerKind::of_case, "", is_65536},
      {"scale no power of two", TriggerKind::of_case, "", no_power_of_two},
      {"scale grows", TriggerKind::of_case, "and another window runs under it", grows},
      {"scale backs off", TriggerKind::of_case, "and another window runs under it", backs_off},
      {"scale backs off below 1", TriggerKind::of_case, "and another window runs under it", below_one},
      {"overflow in the first micro-batch", TriggerKind::of_case, "of several", overflow_in<Place::first>},
      {"overflow in a middle micro-batch", TriggerKind::of_case, "of three or more", overflow_in<Place::middle>},
      {"overflow in the last micro-batch", TriggerKind::of_case, "of several", overflow_in<Place::last>},
      {"two overflows in a row", TriggerKind::of_case, "two windows are skipped", twice},
      {"recovery", TriggerKind::of_case, "a step is taken after a window that was skipped", recovers},
      {"scaler resumed", TriggerKind::of_run, "started with clean windows already counted", resumed}}}};

}  // namespace
}  // namespace tally::loss_scale_trigger

namespace tally::optimizer_trigger {
namespace {

bool sgd(const Sight& s) { return s.c.recipe.optimizer.kind == kinds::sgd; }
bool with_momentum(const Sight& s) { return sgd(s) && s.c.recipe.optimizer.number("momentum").to_double() > 0; }
bool without_momentum(const Sight& s) { return sgd(s) && !with_momentum(s); }
bool dampening(const Sight& s) { return with_momentum(s) && s.c.recipe.optimizer.number("dampening").to_double() > 0; }
bool nesterov(const Sight& s) { return sgd(s) && s.c.recipe.optimizer.flag("nesterov"); }
bool adam(const Sight& s) { return s.c.recipe.optimizer.kind == kinds::adam; }
template <char kind>
bool decay(const Sight& s) {
  return s.c.recipe.weight_decay.kind.front() == kind;
}
bool excluded(const Sight& s) {
  const Choice& decay = s.c.recipe.weight_decay;
  return decay.kind != kinds::none && !decay.texts("exclude").empty();
}
bool constant_rate(const Sight& s) { return s.c.recipe.learning_rate.kind == kinds::constant; }

/// Two windows really used different rates.
bool changing_rate(const Sight& s) {
  for (std::size_t w = 1; w < s.windows(); ++w) {
    const double before = s.number(w - 1, "schedule", "learning_rate"), now = s.number(w, "schedule", "learning_rate");
    if (before < now || now < before) return true;
  }
  return false;
}

bool dead_parameter(const Sight& s) {
  for (const std::string& parameter : parameters_of(s.c.model)) {
    const Tensor* gradient = s.tap(0, "unscale", "d." + parameter);
    bool zero = gradient != nullptr;
    for (std::size_t i = 0; zero && i < gradient->elements(); ++i) zero = gradient->value(i) == 0;
    if (zero) return true;
  }
  return false;
}

const Register<TriggerGroup> registered{
    {5,
     "decay, optimizer, schedule",
     {{"no decay", TriggerKind::of_case, "", decay<'n'>},
      {"l2 decay", TriggerKind::of_case, "", decay<'l'>},
      {"decoupled decay", TriggerKind::of_case, "", decay<'d'>},
      {"decay leaves parameters out", TriggerKind::of_case, "", excluded},
      {"no momentum", TriggerKind::of_case, "", without_momentum},
      {"momentum", TriggerKind::of_case, "", with_momentum},
      {"dampening", TriggerKind::of_case, "", dampening},
      {"Nesterov", TriggerKind::of_case, "", nesterov},
      {"Adam", TriggerKind::of_case, "", adam},
      {"constant rate", TriggerKind::of_case, "", constant_rate},
      {"changing rate", TriggerKind::of_case, "two windows use different rates", changing_rate},
      {"parameter with zero gradient", TriggerKind::of_case, "all of it", dead_parameter},
      {"parameter without gradient", TriggerKind::later, "every parameter of a case takes part in its loss", nullptr},
      {"tied parameters", TriggerKind::later, "a case names each parameter in one layer alone", nullptr}}}};

}  // namespace
}  // namespace tally::optimizer_trigger
