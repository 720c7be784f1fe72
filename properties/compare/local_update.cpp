// The step and what follows it: decay, optimizer, scaler, schedule. And cast, which reads what the last step wrote.
#include "oracle/window/bound_optimizer.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {
namespace {

using oracle::as_read;
using oracle::Expected;

Expected read_or_none(const Tensor* tensor) { return tensor == nullptr ? Expected{} : as_read(*tensor); }

/// The last tap of a parameter's gradient before the optimizer.
const Tensor* last_gradient(const LocalWalk& walk, const std::string& p, bool before_decay) {
  const Tensor* decayed = before_decay ? nullptr : walk.tap("decay", "d." + p);
  if (decayed != nullptr) return decayed;
  return walk.tap(walk.c.recipe.clip.kind == "none" ? "unscale" : "clip", "d." + p);
}

void check_sgd(LocalWalk& walk, const std::string& p, const Tensor& gradient, const Tensor& parameter,
               const Tensor& rate) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const bool has_momentum = oracle::number<long double>(optimizer.number("momentum")) != 0;
  const Tensor* momentum = nullptr;
  if (has_momentum) {
    const Tensor* before = walk.state.momentum[p];
    const Tensor* old = before == nullptr ? walk.tap("optimizer", "in.momentum." + p)
                                          : walk.handed("optimizer", "in.momentum." + p, before);
    if (before != nullptr && old == nullptr) return;
    const Expected known = before == nullptr ? Expected{} : as_read(*old);
    momentum = walk.hold("optimizer", "momentum." + p,
                         oracle::sgd_momentum(walk.subject, optimizer, as_read(gradient), known));
    walk.state.momentum[p] = momentum;
    if (momentum == nullptr) return;
  }
  walk.state.parameter[p] = walk.hold("optimizer", p,
                                      oracle::sgd_parameter(walk.subject, optimizer, as_read(rate), as_read(gradient),
                                                            read_or_none(momentum), as_read(parameter)));
}

void check_adam(LocalWalk& walk, const std::string& p, const Tensor& gradient, const Tensor& parameter) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const auto moment = [&](const char* name, SubjectState::Tensors& state, auto rule) -> const Tensor* {
    const std::string tensor = std::string(name) + "." + p;
    const Tensor* before = state[p] == nullptr ? walk.zeros(p, walk.c.precision.master) : state[p];
    const Tensor* old = walk.handed("optimizer", "in." + tensor, before);
    if (old == nullptr) return nullptr;
    return state[p] = walk.hold("optimizer", tensor, rule(walk.subject, optimizer, as_read(gradient), as_read(*old)));
  };
  const Tensor* first = moment("exp_avg", walk.state.exp_avg, oracle::adam_exp_avg);
  const Tensor* second = moment("exp_avg_sq", walk.state.exp_avg_sq, oracle::adam_exp_avg_sq);
  if (first == nullptr || second == nullptr) return;
  const auto rate = oracle::learning_rate<long double>(walk.c.recipe.learning_rate, walk.state.step);
  walk.state.parameter[p] =
      walk.hold("optimizer", p,
                oracle::adam_parameter(walk.subject, optimizer, rate, walk.state.step, as_read(*first),
                                       as_read(*second), as_read(parameter), false));
}

}  // namespace

void check_cast(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    const Tensor* master = walk.handed("cast", "in." + p, walk.state.parameter[p]);
    if (master != nullptr) walk.hold("cast", p, oracle::rounded_cast(walk.subject.storage, as_read(*master)));
  }
}

void check_decay(LocalWalk& walk) {
  const Choice& decay = walk.c.recipe.weight_decay;
  const auto rate = oracle::learning_rate<long double>(walk.c.recipe.learning_rate, walk.state.step);
  for (const std::string& p : walk.parameters) {
    if (!oracle::decays(walk.c.model, decay, p)) continue;
    const bool l2 = decay.kind == "l2";
    const Tensor* gradient = l2 ? walk.handed("decay", "in.d." + p, last_gradient(walk, p, true)) : nullptr;
    const Tensor* parameter = walk.handed("decay", "in." + p, walk.state.parameter[p]);
    if (parameter == nullptr || (l2 && gradient == nullptr)) continue;
    if (l2) {
      walk.hold("decay", "d." + p, oracle::l2_gradient(decay, as_read(*gradient), as_read(*parameter)));
    } else {
      walk.state.parameter[p] =
          walk.hold("decay", p, oracle::decoupled_parameter(walk.subject, decay, rate, as_read(*parameter)));
    }
  }
}

void check_optimizer(LocalWalk& walk) {
  const Choice& schedule = walk.c.recipe.learning_rate;
  const Tensor* rate =
      walk.hold("optimizer", "in.learning_rate", oracle::rate(walk.subject, schedule, walk.state.step));
  walk.hold("optimizer", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("optimizer", "in.d." + p, last_gradient(walk, p, false));
    const Tensor* parameter = walk.handed("optimizer", "in." + p, walk.state.parameter[p]);
    walk.state.parameter[p] = nullptr;  // unknown until its tap is found
    if (gradient == nullptr || parameter == nullptr || rate == nullptr) continue;
    if (walk.c.recipe.optimizer.kind == "adam") {
      check_adam(walk, p, *gradient, *parameter);
    } else {
      check_sgd(walk, p, *gradient, *parameter, *rate);
    }
  }
}

void check_scaler(LocalWalk& walk) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const oracle::ExpectedScale& now = walk.state.scale;
  walk.handed("scaler", "in.found", walk.tap("overflow_check", "found"));
  const Tensor* scale = walk.hold("scaler", "in.scale", now.scale);
  const Tensor* counter =
      walk.hold("scaler", "in.growth_counter", oracle::scalar(static_cast<long double>(now.growth_counter)));
  if (scale == nullptr || counter == nullptr) return;
  const auto next = oracle::scale_after(loss_scale, {as_read(*scale), counter->integer(0)}, walk.skipped);
  const Tensor* after = walk.hold("scaler", "scale", next.scale);
  const Tensor* count =
      walk.hold("scaler", "growth_counter", oracle::scalar(static_cast<long double>(next.growth_counter)));
  if (after != nullptr && count != nullptr) walk.state.scale = {as_read(*after), count->integer(0)};
}

void check_schedule(LocalWalk& walk) {
  const bool dynamic = walk.c.recipe.loss_scale.kind == "dynamic";
  walk.hold("schedule", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  if (dynamic) walk.handed("schedule", "in.found", walk.tap("overflow_check", "found"));
  const std::int64_t after = walk.state.step + (walk.skipped ? 0 : 1);
  walk.hold("schedule", "step", oracle::scalar(static_cast<long double>(after)));
  walk.hold("schedule", "learning_rate", oracle::rate(walk.subject, walk.c.recipe.learning_rate, walk.state.step));
  walk.state.step = after;
}

}  // namespace tally
