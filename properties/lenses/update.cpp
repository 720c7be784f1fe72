// Cast, decay and the optimizer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::FloatView;
using Floats = oracle::Matrix<float>;

// Decay and optimizer.

bool decays(const Walk& walk, const std::string& p, bool into_gradient) {
  const Choice& decay = walk.c.recipe.weight_decay;
  return decays_gradient(decay) == into_gradient && oracle::decays(walk.c.model, decay, p);
}

/// Whether a parameter decays by itself and leaves no tap before its step, which is then held to both together.
bool is_followed(const Walk& walk, const std::string& p) {
  return decays(walk, p, false) && walk.passes_over("decay", p);
}

/// As often as the window's decay is applied.
Expected decayed(const oracle::Declared& declared, const Walk& walk, const Choice& decay, const Expected& gradient,
                 const Expected& parameter) {
  const oracle::StepRate rate = oracle::step_rate(walk.c.recipe.learning_rate, schedule_count(walk));
  const int times = decays_of(walk);
  Expected all = decays_gradient(decay) ? gradient : parameter;
  for (int i = 0; i < times; ++i)
    all = decays_gradient(decay) ? oracle::decayed(declared, decay, rate, all, parameter)
                                 : oracle::decayed(declared, decay, rate, gradient, all);
  return all;
}

void walk_decay_of(Walk& walk, const std::string& p) {
  const Choice decay = decay_in_force(walk);
  const bool into_gradient = decays_gradient(decay);
  const Value gradient = into_gradient     ? walk.input("decay", "in.d." + p, walk.gradients.at(p))
                         : walk.is_local() ? Value()
                                           : walk.gradients.at(p);
  const Value parameter = walk.input("decay", "in." + p, walk.state.parameter[p]);
  if (is_followed(walk, p)) return;
  const std::string tensor = into_gradient ? "d." + p : p;
  Value& moved = into_gradient ? walk.gradients.at(p) : walk.state.parameter[p];
  moved = walk.left("decay", tensor);
  if (!parameter.known() || (into_gradient && !gradient.known())) return;
  const auto bound = [&](const oracle::Declared& declared) {
    return decayed(declared, walk, decay, *gradient.read(), *parameter.read());
  };
  const Bits bits{[&] {
    return oracle::predicted_decayed(walk.declared, decay, walk.c.recipe.learning_rate, walk.state.step,
                                     gradient.floats(), parameter.floats());
  }};
  const auto some_rows = [&](const oracle::Declared& declared, Eigen::Index first, Eigen::Index rows) {
    return decayed(declared, walk, decay, gradient.rows(first, rows), parameter.rows(first, rows));
  };
  moved = walk.output("decay", tensor, bound, {{"the parameter", parameter.bits()}}, bits, some_rows);
}

/// What one parameter's step reads, and the state that it left; unknown: there is none yet, or its tap is missing.
struct ParameterStep {
  Value gradient, parameter;
  std::vector<Value> before = {}, after = {};
  bool decays = false;  // the parameter first, as that left no tap
};

/// The same for a rule.
template <class M>
struct ReadStep {
  M gradient, parameter;
  std::vector<M> before, after;
  oracle::StepTensors<M> tensors() const { return {gradient, before, after, parameter}; }
};

/// What state tensor i's rule reads; what the parameter's rule does.
template <class M, class Read>
ReadStep<M> read_for_state(const oracle::OptimizerRules& rules, const ParameterStep& step, std::size_t i, Read read) {
  ReadStep<M> all{read(step.gradient), {}, std::vector<M>(i + 1), {}};
  if (rules.state_reads_parameter(i)) all.parameter = read(step.parameter);
  all.before[i] = read(step.before[i]);
  for (std::size_t k = 0; k < i; ++k) all.after.push_back(read(step.after[k]));
  return all;
}
template <class M, class Read>
ReadStep<M> read_for_parameter(const ParameterStep& step, bool before, Read read) {
  ReadStep<M> all{read(step.gradient), read(step.parameter), {}, {}};
  for (const Value& each : step.after) all.after.push_back(read(each));
  if (!before) return all;
  for (const Value& each : step.before) all.before.push_back(read(each));
  return all;
}

Expected all_rows(const Value& value) { return *value.read(); }
Floats floats(const Value& value) { return value.floats(); }
auto only_rows(Eigen::Index first, Eigen::Index rows) {
  return [=](const Value& value) { return value.rows(first, rows); };
}

/// A gradient as a sign reads it. What left the range on the way is known to be not finite, and not whether it is an
/// infinity: Lion's step by an infinity is finite, by a NaN it is not.
Value as_a_sign_reads_it(const Walk& walk, const Value& gradient) {
  if (!oracle::rules_of(walk.c.recipe.optimizer).steps_by_sign() || walk.lens != Lens::end_to_end) return gradient;
  Expected read = *gradient.read();
  for (Eigen::Index i = 0; i < read.v.size(); ++i)
    if (!std::isfinite(static_cast<double>(read.v.data()[i]))) read.e.data()[i] = oracle::infinite;
  return read;
}

/// The state tensors of a parameter: what the step reads of them, and what it leaves. False where one that the
/// parameter moves by is not known.
bool walk_state(Walk& walk, const std::string& p, ParameterStep& step, const oracle::StepSetting& setting) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const oracle::OptimizerRules& rules = oracle::rules_of(optimizer);
  const auto state = state_of(optimizer);
  const bool whole = reads_whole_tensors(optimizer);
  bool complete = true, all_known = true;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto shape = shape_beside(*state[i], optimizer, walk.c.tensors.at(p).shape);
    if (!shape) {
      step.before.emplace_back(), step.after.emplace_back();
      continue;
    }
    const std::string name = state[i]->name + "." + p;
    Value known = walk.state.optimizer.at(p).at(i);
    const bool fresh = !walk.is_local() || !walk.state.stepped;
    const bool stands_for_zeros = !walk.is_local() && !whole;  // an empty matrix does
    const bool none_yet = !known.known() && fresh && (state[i]->begins_with_gradient || stands_for_zeros);
    if (!known.known() && fresh && !none_yet) known = walk.of_case({walk.c.precision.master, *shape});
    step.before.push_back(none_yet ? Value() : walk.input("optimizer", "in." + name, known));
    const bool begun = none_yet || step.before[i].known();
    Value after = walk.left("optimizer", name);
    if (!begun || (rules.reads_state_in_front(i) && !complete)) {
      all_known = all_known && begun;
    } else {
      const Bits bits{
          [&] { return rules.predicted_state(i, setting, read_for_state<Floats>(rules, step, i, floats).tensors()); }};
      const auto bound = [&](const oracle::Declared& declared) {
        return rules.state(i, setting.asked(declared), read_for_state<Expected>(rules, step, i, all_rows).tensors());
      };
      const auto some_rows = [&](const oracle::Declared& declared, Eigen::Index first, Eigen::Index rows) {
        return rules.state(i, setting.asked(declared),
                           read_for_state<Expected>(rules, step, i, only_rows(first, rows)).tensors());
      };
      after = walk.output("optimizer", name, bound, {}, bits, whole ? SomeRows() : some_rows);
    }
    step.after.push_back(after);
    complete = complete && after.known();
  }
  return complete && (all_known || !rules.moves_by_old_state());
}

void walk_step(Walk& walk, const std::string& p, ParameterStep step, const Value& rate) {
  const Choice& optimizer = walk.c.recipe.optimizer;
  const oracle::OptimizerRules& rules = oracle::rules_of(optimizer);
  const Choice schedule = schedule_in_force(walk);
  const oracle::StepSetting setting{walk.declared, optimizer, schedule, corrected_count(walk)};
  step.gradient = as_a_sign_reads_it(walk, step.gradient);
  const bool complete = walk_state(walk, p, step, setting);
  const auto state = state_of(optimizer);
  bool seen = false;
  for (const StateTensor* each : state) seen = seen || walk.tap("optimizer", each->name + "." + p) != nullptr;
  walk.state.optimizer[p] = step.after;
  walk.state.parameter[p] = walk.left("optimizer", p);
  if (!complete) return;
  std::vector<Direction> along;
  if (walk.is_local() && rules.is_linear()) along.push_back({"the gradient", step.gradient.bits()});
  for (std::size_t i = 0; walk.is_local() && rules.is_linear() && i < state.size(); ++i)
    along.push_back({"the " + state[i]->word, step.after[i].bits()});
  const bool old = rules.moves_by_old_state();
  const bool from_zero = !walk.is_local() && walk.state.state_from_zero && !(walk.lens == Lens::group && seen);
  const auto stepped_by = [&](const oracle::Declared& declared, auto read) {
    auto all = read_for_parameter<Expected>(step, old || !walk.is_local(), read);
    if (step.decays) all.parameter = decayed(declared, walk, walk.c.recipe.weight_decay, {}, all.parameter);
    return rules.parameter(setting.asked(declared), *rate.read(), all.tensors(), from_zero);
  };
  const Bits bits{[&]() -> oracle::Prediction {
    if (step.decays) return {};
    return rules.predicted_parameter(setting, rate.floats()(0, 0),
                                     read_for_parameter<Floats>(step, old, floats).tensors());
  }};
  const auto some_rows = [&](const oracle::Declared& declared, Eigen::Index first, Eigen::Index rows) {
    return stepped_by(declared, only_rows(first, rows));
  };
  walk.state.parameter[p] = walk.output(
      "optimizer", p, [&](const oracle::Declared& declared) { return stepped_by(declared, all_rows); }, along, bits,
      reads_whole_tensors(optimizer) ? SomeRows() : some_rows);
}

/// The steps taken before this window; where the optimizer counts otherwise, either count may be what a recorder saw.
void hold_steps(Walk& walk, const std::string& stage) {
  const Tensor* told = walk.tap(stage, "in.step");
  const bool its_own = told != nullptr && told->integer(0) == optimizer_count(walk);
  walk.constant(stage, "in.step",
                oracle::scalar(static_cast<long double>(its_own ? optimizer_count(walk) : walk.state.step)));
}

}  // namespace

void walk_cast(Walk& walk) {
  for (const std::string& p : walk.weights) {
    if (walk.passes_over("cast", p) && walk.cast_copy(p).known()) continue;
    if (!walk.is_local() && is_given(walk.c.model, "cast") && walk.tap("cast", p) == nullptr) continue;
    const Value master = walk.input("cast", "in." + p, walk.state.parameter[p]);
    if (!master.known()) continue;
    walk.exact_output(
        "cast", p, [&] { return oracle::rounded_cast(walk.declared.storage, FloatView(*master.bits())); },
        [&](const oracle::Declared& declared) { return oracle::cast(declared, declared.storage, *master.read()); });
  }
}

void walk_decay(Walk& walk, bool into_gradient) {
  for (const std::string& p : walk.parameters)
    if (decays(walk, p, into_gradient)) walk_decay_of(walk, p);
}

void walk_optimizer(Walk& walk) {
  const Choice& schedule = walk.c.recipe.learning_rate;
  if (walk.is_local()) walk_decay(walk, false);
  const Expected of_schedule = oracle::rate(walk.declared, schedule, schedule_count(walk));
  const Value told = walk.constant("optimizer", "in.learning_rate", oracle::predicted_constant(of_schedule));
  const Value rate = walk.is_local() ? told : Value(of_schedule);
  hold_steps(walk, "optimizer");
  if (walk.deviation != nullptr && walk.deviation->optimizer_count) hold_steps(walk, "schedule");
  for (const std::string& p : walk.parameters) {
    if (!walk.is_local() && decays(walk, p, false)) walk_decay_of(walk, p);
    ParameterStep step{walk.told_input("optimizer", "in.d." + p, walk.gradients.at(p)),
                       walk.told_input("optimizer", "in." + p, walk.state.parameter.at(p))};
    step.decays = is_followed(walk, p);
    if (step.gradient.known() && step.parameter.known() && rate.known()) {
      walk_step(walk, p, std::move(step), rate);
      continue;
    }
    walk.state.parameter[p] = walk.left("optimizer", p);
    const auto state = state_of(walk.c.recipe.optimizer);
    for (std::size_t i = 0; i < state.size(); ++i)
      walk.state.optimizer[p][i] = walk.left("optimizer", state[i]->name + "." + p);
  }
  walk.state.stepped = true;
  if (shards_optimizer(walk.c) && !shards_parameters(walk.c)) walk_gathered(walk);
}

void walk_no_step(Walk& walk) {
  for (const std::string& p : walk.parameters) {
    const Tensor* moved = walk.tap("optimizer", p);
    if (moved == nullptr || walk.lens == Lens::end_to_end) continue;
    if (walk.lens == Lens::group) {
      walk.state.parameter[p] = walk.output("optimizer", p, *walk.state.parameter[p].read());
      walk.note_failure(FailureClass::skip_decision);
      continue;
    }
    walk.leave_open("optimizer", p);
    TensorCheck& check = walk.checks.back();
    check.status = Status::fail;
    check.failure = FailureClass::skip_decision;
    check.elements = check.over_bound = moved->elements();
    if (const Tensor* before = walk.tap("cast", "in." + p)) {
      const TensorCheck difference = bitwise_check(check.tap, check.stage, *before, *moved);
      check.worst_index = difference.worst_index;
      check.expected = difference.expected, check.got = difference.got, check.error = difference.error;
    }
  }
}

}  // namespace tally
