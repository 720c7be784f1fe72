// The step: decay and optimizer. And cast, which reads what the last step wrote.
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/recipe/optimizer_rules.hpp"
#include "oracle/window/predicted_stages.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {
namespace {

using oracle::as_read;
using oracle::Expected;
using oracle::floats_of;

Expected as_read_or_none(const Tensor* tensor) { return tensor == nullptr ? Expected{} : as_read(*tensor); }

/// The same of some rows, for rules that go element by element.
auto reads_rows(Eigen::Index first, Eigen::Index rows) {
  return [=](const Tensor* tensor) { return tensor == nullptr ? Expected{} : as_read(*tensor, first, rows); };
}

using Floats = oracle::Matrix<float>;

Floats floats_or_none(const Tensor* tensor) { return tensor == nullptr ? Floats() : oracle::floats_of(*tensor); }

/// The last tap of a parameter's gradient before the optimizer.
const Tensor* last_gradient(const LocalWalk& walk, const std::string& p, bool before_decay) {
  const Choice& decay = walk.c.recipe.weight_decay;
  const bool decayed = decays_gradient(decay) && oracle::decays(walk.c.model, decay, p);
  if (decayed && !before_decay) return walk.tap("decay", "d." + p);
  return walk.tap(clips(walk.c.recipe.clip) ? "clip" : "unscale", "d." + p);
}

/// What one parameter's step reads.
struct ParameterStep {
  const Tensor &gradient, &parameter;
  bool first;                      // no step was taken before
  const Choice* decays = nullptr;  // what moves the parameter first, where that left no tap
};

/// State tensors as the step read and left them; nullptr: there is none yet, or its tap is missing.
struct StateTaps {
  std::vector<const Tensor*> before, after;
};

/// The same for a rule.
template <class M>
struct ReadStep {
  M gradient, parameter;
  std::vector<M> before, after;
  oracle::StepTensors<M> tensors() const { return {gradient, before, after, parameter}; }
};

/// What state tensor i's rule reads.
template <class M, class Read>
ReadStep<M> read_for_state(const ParameterStep& step, const StateTaps& state, std::size_t i, Read read) {
  ReadStep<M> all{read(&step.gradient), {}, std::vector<M>(i + 1), {}};
  all.before[i] = read(state.before[i]);
  for (std::size_t k = 0; k < i; ++k) all.after.push_back(read(state.after[k]));
  return all;
}

/// What the parameter's rule reads.
template <class M, class Read>
ReadStep<M> read_for_parameter(const ParameterStep& step, const StateTaps& state, bool before, Read read) {
  ReadStep<M> all{read(&step.gradient), read(&step.parameter), {}, {}};
  for (const Tensor* tensor : state.after) all.after.push_back(read(tensor));
  if (!before) return all;
  for (const Tensor* tensor : state.before) all.before.push_back(read(tensor));
  return all;
}

/// A parameter that decays without a tap, as the step reads it.
void decay_first(const LocalWalk& walk, const ParameterStep& step, ReadStep<Expected>& read) {
  if (step.decays == nullptr) return;
  const auto rate = oracle::step_rate(walk.c.recipe.learning_rate, walk.state.step);
  read.parameter = oracle::decayed(walk.declared, *step.decays, rate, {}, read.parameter);
}

void check_step_of(LocalWalk& walk, const std::string& p, const ParameterStep& step, const SubjectState& before,
                   const Tensor& rate) {
  const oracle::OptimizerRules& rules = oracle::rules_of(walk.c.recipe.optimizer);
  const oracle::StepSetting setting{walk.declared, walk.c.recipe.optimizer, walk.c.recipe.learning_rate,
                                    walk.state.step};
  const auto state = state_of(walk.c.recipe.optimizer);
  StateTaps taps{{}, std::vector<const Tensor*>(state.size())};
  bool complete = true, all_known = true;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const Tensor* known = before.optimizer.at(p).at(i);
    const bool none_yet = state[i]->begins_with_gradient && step.first && known == nullptr;
    std::optional<Tensor> zeros;
    if (known == nullptr && step.first && !none_yet) known = &zeros.emplace(walk.zeros(p, walk.c.precision.master));
    taps.before.push_back(none_yet ? nullptr : walk.handed("optimizer", "in." + state[i]->name + "." + p, known));
    const std::string name = state[i]->name + "." + p;
    const bool begun = none_yet || taps.before[i] != nullptr;
    if (!begun || (rules.reads_state_in_front(i) && !complete)) {
      taps.after[i] = walk.tap("optimizer", name);
      all_known = all_known && begun;
    } else {
      const Bits bits{[&] {
        return rules.predicted_state(i, setting, read_for_state<Floats>(step, taps, i, floats_or_none).tensors());
      }};
      const auto bound = [&] {
        return rules.state(i, setting, read_for_state<Expected>(step, taps, i, as_read_or_none).tensors());
      };
      const auto some_rows = [&](const std::string&, Eigen::Index first, Eigen::Index rows) {
        const auto read = read_for_state<Expected>(step, taps, i, reads_rows(first, rows));
        return std::optional(rules.state(i, setting, read.tensors()));
      };
      taps.after[i] = walk.check_output("optimizer", name, bound, {}, bits, some_rows);
    }
    complete = complete && taps.after[i] != nullptr;
  }
  if (!complete) return;
  std::vector<Direction> along;
  if (rules.is_linear()) along.push_back({"the gradient", &step.gradient});
  for (std::size_t i = 0; rules.is_linear() && i < state.size(); ++i)
    along.push_back({"the " + state[i]->word, taps.after[i]});
  const bool old = rules.moves_by_old_state();
  if (old && !all_known) return;
  const Bits bits{[&]() -> oracle::Prediction {
    if (step.decays != nullptr) return {};
    return rules.predicted_parameter(setting, floats_of(rate)(0, 0),
                                     read_for_parameter<Floats>(step, taps, old, floats_or_none).tensors());
  }};
  const auto bound = [&] {
    auto read = read_for_parameter<Expected>(step, taps, old, as_read_or_none);
    decay_first(walk, step, read);
    return rules.parameter(setting, as_read(rate), read.tensors(), false);
  };
  const auto some_rows = [&](const std::string&, Eigen::Index first, Eigen::Index rows) {
    auto read = read_for_parameter<Expected>(step, taps, old, reads_rows(first, rows));
    decay_first(walk, step, read);
    return std::optional(rules.parameter(setting, as_read(rate), read.tensors(), false));
  };
  walk.check_output("optimizer", p, bound, along, bits, some_rows);
}

/// What the next window must read: the taps, whatever was found of them.
void take_over(LocalWalk& walk, const std::string& p) {
  walk.state.parameter[p] = walk.tap("optimizer", p);
  const auto state = state_of(walk.c.recipe.optimizer);
  for (std::size_t i = 0; i < state.size(); ++i)
    walk.state.optimizer[p][i] = walk.tap("optimizer", state[i]->name + "." + p);
}

/// Whether a parameter decays by itself and leaves no tap before its step, which is then held to both together.
bool is_followed(const LocalWalk& walk, const std::string& p) {
  const Choice& decay = walk.c.recipe.weight_decay;
  return oracle::decays(walk.c.model, decay, p) && !decays_gradient(decay) && walk.passes_over("decay", p);
}

}  // namespace

void check_cast(LocalWalk& walk) {
  for (const std::string& p : walk.weights) {
    if (walk.passes_over("cast", p) && walk.cast_copy(p) != nullptr) continue;
    const Tensor* master = walk.handed("cast", "in." + p, walk.state.parameter[p]);
    if (master == nullptr) continue;
    walk.check_bits("cast", p, [&] { return oracle::rounded_cast(walk.declared.storage, oracle::FloatView(*master)); });
  }
}

void check_decay(LocalWalk& walk) {
  const Choice& decay = walk.c.recipe.weight_decay;
  const auto rate = oracle::step_rate(walk.c.recipe.learning_rate, walk.state.step);
  for (const std::string& p : walk.parameters) {
    if (!oracle::decays(walk.c.model, decay, p)) continue;
    const bool into_gradient = decays_gradient(decay);
    const Tensor* gradient = into_gradient ? walk.handed("decay", "in.d." + p, last_gradient(walk, p, true)) : nullptr;
    const Tensor* parameter = walk.handed("decay", "in." + p, walk.state.parameter[p]);
    if (is_followed(walk, p)) continue;
    if (!into_gradient) walk.state.parameter[p] = walk.tap("decay", p);
    if (parameter == nullptr || (into_gradient && gradient == nullptr)) continue;
    const auto bound = [&] {
      return oracle::decayed(walk.declared, decay, rate, as_read_or_none(gradient), as_read(*parameter));
    };
    const Bits bits{[&] {
      return oracle::predicted_decayed(walk.declared, decay, walk.c.recipe.learning_rate, walk.state.step,
                                       floats_or_none(gradient), floats_of(*parameter));
    }};
    const auto some_rows = [&](const std::string&, Eigen::Index first, Eigen::Index rows) {
      const auto read = reads_rows(first, rows);
      return std::optional(oracle::decayed(walk.declared, decay, rate, read(gradient), read(parameter)));
    };
    walk.check_output("decay", into_gradient ? "d." + p : p, bound, {{"the parameter", parameter}}, bits, some_rows);
  }
}

void check_optimizer(LocalWalk& walk) {
  const Choice& schedule = walk.c.recipe.learning_rate;
  const Tensor* rate =
      walk.check_output("optimizer", "in.learning_rate",
                        oracle::predicted_constant(oracle::rate(walk.declared, schedule, walk.state.step)));
  walk.check_output("optimizer", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  const SubjectState before = walk.state;
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("optimizer", "in.d." + p, last_gradient(walk, p, false));
    const Tensor* parameter = walk.handed("optimizer", "in." + p, before.parameter.at(p));
    take_over(walk, p);
    if (gradient == nullptr || parameter == nullptr || rate == nullptr) continue;
    const ParameterStep step{*gradient, *parameter, !before.stepped,
                             is_followed(walk, p) ? &walk.c.recipe.weight_decay : nullptr};
    check_step_of(walk, p, step, before, *rate);
  }
  walk.state.stepped = true;
}

}  // namespace tally
