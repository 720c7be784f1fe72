// Optimizer, decay and learning rate.
#include "properties/triggers/trigger.hpp"

namespace tally::optimizer_trigger {
namespace {

bool sgd(const Sight& s) { return s.c.recipe.optimizer.kind == "sgd"; }
bool with_momentum(const Sight& s) { return sgd(s) && s.c.recipe.optimizer.number("momentum").to_double() > 0; }
bool without_momentum(const Sight& s) { return sgd(s) && !with_momentum(s); }
bool dampening(const Sight& s) { return with_momentum(s) && s.c.recipe.optimizer.number("dampening").to_double() > 0; }
bool nesterov(const Sight& s) { return sgd(s) && s.c.recipe.optimizer.flag("nesterov"); }
bool adam(const Sight& s) { return s.c.recipe.optimizer.kind == "adam"; }
template <char kind>
bool decay(const Sight& s) {
  return s.c.recipe.weight_decay.kind.front() == kind;
}
bool excluded(const Sight& s) {
  const Choice& decay = s.c.recipe.weight_decay;
  return decay.kind != "none" && !decay.texts("exclude").empty();
}
bool constant_rate(const Sight& s) { return s.c.recipe.learning_rate.kind == "constant"; }

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

const RegisterTriggers registered{
    5,
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
     {"tied parameters", TriggerKind::later, "a case names each parameter in one layer alone", nullptr}}};

}  // namespace
}  // namespace tally::optimizer_trigger
