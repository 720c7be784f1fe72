// The step and what follows it: decay, optimizer, scaler, schedule. And cast, which reads what the last step wrote.
#include "oracle/window/bound_optimizer.hpp"
#include "oracle/window/predicted_stages.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {
namespace {

using oracle::as_read;
using oracle::Expected;
using oracle::floats_of;

Expected read_or_none(const Tensor* tensor) { return tensor == nullptr ? Expected{} : as_read(*tensor); }

using Floats = oracle::Matrix<float>;

Floats floats_or_none(const Tensor* tensor) { return tensor == nullptr ? Floats() : oracle::floats_of(*tensor); }

/// The last tap of a parameter's gradient before the optimizer.
const Tensor* last_gradient(const LocalWalk& walk, const std::string& p, bool before_decay) {
  const Choice& decay = walk.c.recipe.weight_decay;
  const bool decayed = decay.kind == "l2" && oracle::decays(walk.c.model, decay, p);
  if (decayed && !before_decay) return walk.tap("decay", "d." + p);
  return walk.tap(walk.c.recipe.clip.kind == "none" ? "unscale" : "clip", "d." + p);
}

/// What one parameter's step reads.
struct Step {
  const Tensor &gradient, &parameter;
  bool first;  // no step was taken before
};

void check_sgd(LocalWalk& walk, const std::string& p, const Step& step, const Tensor* known, const Tensor& rate) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const Tensor* momentum = nullptr;
  if (oracle::number<long double>(optimizer.number("momentum")) != 0) {
    const bool none_yet = step.first && known == nullptr;
    const Tensor* old = none_yet ? nullptr : walk.handed("optimizer", "in.momentum." + p, known);
    if (!none_yet && old == nullptr) return;
    const auto bound = [&] {
      return oracle::sgd_momentum(walk.subject, optimizer, as_read(step.gradient), read_or_none(old));
    };
    const Bits bits{[&] {
      return oracle::predicted_sgd_momentum(walk.subject, optimizer, floats_of(step.gradient), floats_or_none(old));
    }};
    momentum = walk.hold("optimizer", "momentum." + p, bound, {}, bits);
    if (momentum == nullptr) return;
  }
  const auto bound = [&] {
    return oracle::sgd_parameter(walk.subject, optimizer, as_read(rate), as_read(step.gradient), read_or_none(momentum),
                                 as_read(step.parameter));
  };
  const Bits bits{[&] {
    return oracle::predicted_sgd_parameter(walk.subject, optimizer, floats_of(rate)(0, 0), floats_of(step.gradient),
                                           floats_or_none(momentum), floats_of(step.parameter));
  }};
  walk.hold("optimizer", p, bound, {{"the gradient", &step.gradient}, {"the momentum", momentum}}, bits);
}

void check_adam(LocalWalk& walk, const std::string& p, const Step& step, const SubjectState& before) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const auto moment = [&](const std::string& name, const Tensor* known, auto rule, auto predicted) -> const Tensor* {
    if (known == nullptr && step.first) known = walk.zeros(p, walk.c.precision.master);
    const Tensor* old = walk.handed("optimizer", "in." + name + "." + p, known);
    if (old == nullptr) return walk.tap("optimizer", name + "." + p);
    const auto bound = [&] { return rule(walk.subject, optimizer, as_read(step.gradient), as_read(*old)); };
    const Bits bits{[&] { return predicted(walk.subject, optimizer, floats_of(step.gradient), floats_of(*old)); }};
    return walk.hold("optimizer", name + "." + p, bound, {}, bits);
  };
  const Tensor* first = moment("exp_avg", before.exp_avg.at(p), oracle::adam_exp_avg, oracle::predicted_exp_avg);
  const Tensor* second =
      moment("exp_avg_sq", before.exp_avg_sq.at(p), oracle::adam_exp_avg_sq, oracle::predicted_exp_avg_sq);
  if (first == nullptr || second == nullptr) return;
  const Choice& schedule = walk.c.recipe.learning_rate;
  const auto bound = [&] {
    return oracle::adam_parameter(walk.subject, optimizer, oracle::step_rate(schedule, walk.state.step),
                                  walk.state.step, as_read(*first), as_read(*second), as_read(step.parameter), false);
  };
  const Bits bits{[&] {
    return oracle::predicted_adam_parameter(walk.subject, optimizer, schedule, walk.state.step, floats_of(*first),
                                            floats_of(*second), floats_of(step.parameter));
  }};
  walk.hold("optimizer", p, bound, {}, bits);
}

/// What the next window must read: the taps, whatever was found of them.
void take_over(LocalWalk& walk, const std::string& p) {
  walk.state.parameter[p] = walk.tap("optimizer", p);
  walk.state.momentum[p] = walk.tap("optimizer", "momentum." + p);
  walk.state.exp_avg[p] = walk.tap("optimizer", "exp_avg." + p);
  walk.state.exp_avg_sq[p] = walk.tap("optimizer", "exp_avg_sq." + p);
}

}  // namespace

void check_cast(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    const Tensor* master = walk.handed("cast", "in." + p, walk.state.parameter[p]);
    if (master == nullptr) continue;
    walk.hold("cast", p, [&] { return oracle::rounded_cast(walk.subject.storage, floats_of(*master)); });
  }
}

void check_decay(LocalWalk& walk) {
  const Choice& decay = walk.c.recipe.weight_decay;
  const auto rate = oracle::step_rate(walk.c.recipe.learning_rate, walk.state.step);
  for (const std::string& p : walk.parameters) {
    if (!oracle::decays(walk.c.model, decay, p)) continue;
    const bool l2 = decay.kind == "l2";
    const Tensor* gradient = l2 ? walk.handed("decay", "in.d." + p, last_gradient(walk, p, true)) : nullptr;
    const Tensor* parameter = walk.handed("decay", "in." + p, walk.state.parameter[p]);
    if (!l2) walk.state.parameter[p] = walk.tap("decay", p);
    if (parameter == nullptr || (l2 && gradient == nullptr)) continue;
    const auto bound = [&] {
      return l2 ? oracle::l2_gradient(decay, as_read(*gradient), as_read(*parameter))
                : oracle::decoupled_parameter(walk.subject, decay, rate, as_read(*parameter));
    };
    const Bits bits{[&] {
      return l2 ? oracle::predicted_l2_gradient(walk.subject, decay, floats_of(*gradient), floats_of(*parameter))
                : oracle::predicted_decoupled_parameter(walk.subject, decay, walk.c.recipe.learning_rate,
                                                        walk.state.step, floats_of(*parameter));
    }};
    walk.hold("decay", l2 ? "d." + p : p, bound, {{"the parameter", parameter}}, bits);
  }
}

void check_optimizer(LocalWalk& walk) {
  const Choice& schedule = walk.c.recipe.learning_rate;
  const Tensor* rate = walk.hold("optimizer", "in.learning_rate",
                                 oracle::predicted_constant(oracle::rate(walk.subject, schedule, walk.state.step)));
  walk.hold("optimizer", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  const SubjectState before = walk.state;
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("optimizer", "in.d." + p, last_gradient(walk, p, false));
    const Tensor* parameter = walk.handed("optimizer", "in." + p, before.parameter.at(p));
    take_over(walk, p);
    if (gradient == nullptr || parameter == nullptr || rate == nullptr) continue;
    const Step step{*gradient, *parameter, !before.stepped};
    if (walk.c.recipe.optimizer.kind == "adam") {
      check_adam(walk, p, step, before);
    } else {
      check_sgd(walk, p, step, before.momentum.at(p), *rate);
    }
  }
  walk.state.stepped = true;
}

namespace {

/// Whether this window's decision to skip is known. Not where its tap is missing: what follows from it cannot be
/// judged.
bool decided(const LocalWalk& walk) {
  return walk.c.recipe.loss_scale.kind != "dynamic" || walk.tap("overflow_check", "found") != nullptr;
}

void leave_open(LocalWalk& walk, const std::string& stage, const std::string& tensor) {
  walk.checks.push_back(not_run({"local", TapName{walk.window, -1, stage, tensor}.text(), stage}));
}

/// The flag that a stage read: the one found, else what the gradients say; 0 where nothing is searched. Of a search
/// that left nothing the flags of both stages agree.
void check_found(LocalWalk& walk, const std::string& stage) {
  const bool dynamic = walk.c.recipe.loss_scale.kind == "dynamic";
  const Tensor* found = walk.tap("overflow_check", "found");
  const Tensor* read = walk.tap(stage, "in.found");
  if (!dynamic && read == nullptr) return;
  if (dynamic && (read == nullptr || found != nullptr)) {
    walk.handed(stage, "in.found", found);
    return;
  }
  const Tensor* other = stage == "schedule" ? walk.tap("scaler", "in.found") : nullptr;
  const bool set = !dynamic ? false : walk.overflows.value_or((other != nullptr ? other : read)->integer(0) != 0);
  walk.hold(stage, "in.found", oracle::scalar(set ? 1 : 0));
}

/// A count of steps since the scale last changed, as the trace has it; one that no scaler reaches is not gone on from.
std::int64_t counter_of(const LocalWalk& walk, const Tensor* tapped, std::int64_t otherwise) {
  if (tapped == nullptr) return otherwise;
  const std::int64_t counter = tapped->integer(0);
  return counter >= 0 && counter < walk.c.recipe.loss_scale.integer("growth_interval") ? counter : otherwise;
}

bool fits(const Tensor* tapped, const oracle::Expected& expected) {
  return tapped == nullptr || judge_bits({}, expected, *tapped).status != Status::fail;
}

/// What the next window says that it read fits this scale.
bool is_read_next(const LocalWalk& walk, const oracle::ExpectedScale& left) {
  const auto read = [&](const char* tensor) {
    return walk.trace.find(TapName{walk.window + 1, -1, "scaler", tensor}.text());
  };
  return fits(read("in.scale"), oracle::predicted_constant(left.scale)) &&
         fits(read("in.growth_counter"), oracle::scalar(static_cast<long double>(left.growth_counter)));
}

/// Whether the decision was known: the scale that it leaves is one of two.
void leave_scale_open(LocalWalk& walk, const oracle::ExpectedScale& read) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const Tensor *scale = walk.tap("scaler", "scale"), *counter = walk.tap("scaler", "growth_counter");
  const auto could_follow = [&](bool skipped) {
    const auto next = oracle::scale_after(loss_scale, read, skipped);
    return fits(scale, oracle::predicted_constant(next.scale)) &&
           fits(counter, oracle::scalar(static_cast<long double>(next.growth_counter)));
  };
  if (could_follow(false) || could_follow(true)) {
    leave_open(walk, "scaler", "scale");
    leave_open(walk, "scaler", "growth_counter");
    // Where it is not tapped, that of the two which the next window goes on from.
    const auto kept = oracle::scale_after(loss_scale, read, false),
               backed_off = oracle::scale_after(loss_scale, read, true);
    walk.state.scale = !is_read_next(walk, kept) && is_read_next(walk, backed_off) ? backed_off : kept;
    if (scale != nullptr) walk.state.scale.scale = as_read(*scale);
    walk.state.scale.growth_counter = counter_of(walk, counter, walk.state.scale.growth_counter);
    return;
  }
  const auto next = oracle::scale_after(loss_scale, read, false);
  walk.hold("scaler", "scale", oracle::predicted_constant(next.scale));
  walk.hold("scaler", "growth_counter", oracle::scalar(static_cast<long double>(next.growth_counter)));
  walk.state.scale = next;
}

}  // namespace

void check_scaler(LocalWalk& walk) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const oracle::ExpectedScale& now = walk.state.scale;
  check_found(walk, "scaler");
  const Tensor* scale = walk.hold("scaler", "in.scale", oracle::predicted_constant(now.scale));
  const Tensor* counter =
      walk.hold("scaler", "in.growth_counter", oracle::scalar(static_cast<long double>(now.growth_counter)));
  // Where a tap is missing, the state goes on as it should have.
  const oracle::ExpectedScale read{scale == nullptr ? now.scale : as_read(*scale),
                                   counter_of(walk, counter, now.growth_counter)};
  if (!decided(walk)) return leave_scale_open(walk, read);
  const auto next = oracle::scale_after(loss_scale, read, walk.skipped);
  const Tensor* after = walk.hold("scaler", "scale", oracle::predicted_constant(next.scale));
  const Tensor* count =
      walk.hold("scaler", "growth_counter", oracle::scalar(static_cast<long double>(next.growth_counter)));
  walk.state.scale = {after == nullptr ? next.scale : as_read(*after), counter_of(walk, count, next.growth_counter)};
}

void check_schedule(LocalWalk& walk) {
  walk.hold("schedule", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  check_found(walk, "schedule");
  const Tensor* tapped = walk.tap("schedule", "step");
  std::int64_t after = walk.state.step + (walk.skipped ? 0 : 1);
  const bool one_of_two = tapped == nullptr || tapped->integer(0) == walk.state.step || tapped->integer(0) == after;
  if (decided(walk) || !one_of_two) {
    walk.hold("schedule", "step", oracle::scalar(static_cast<long double>(after)));
  } else {
    leave_open(walk, "schedule", "step");
    if (tapped != nullptr) after = tapped->integer(0);
  }
  walk.hold("schedule", "learning_rate",
            oracle::predicted_constant(oracle::rate(walk.subject, walk.c.recipe.learning_rate, walk.state.step)));
  walk.state.step = after;
}

}  // namespace tally
