// The window's end: overflow check, unscale, norm, clip, decay, optimizer, scaler, schedule; and the next cast.
#include <cmath>
#include <utility>

#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/recipe/optimizer_rules.hpp"
#include "oracle/window/bound_stages.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/compare/end_to_end_walk.hpp"

namespace tally {

OverflowFound overflow_of(const oracle::ExpectedTensors& buffers) {
  OverflowFound found = OverflowFound::none;
  for (const auto& [name, buffer] : buffers) {
    for (Eigen::Index i = 0; i < buffer.v.size(); ++i) {
      const bool decided = std::isfinite(buffer.e.data()[i]), finite = std::isfinite(buffer.v.data()[i]);
      if (decided && !finite) return OverflowFound::certain;
      if (!decided) found = OverflowFound::open;
    }
  }
  return found;
}

namespace {

using oracle::Expected;

/// A rank's piece of a parameter's tensor, its elements in a row.
Expected piece_of_expected(const Case& whole, const std::string& p, const Expected& all, std::size_t rank) {
  const ShardPiece piece = piece_of(whole, p, rank);
  Expected own{oracle::Matrix<long double>(piece.count, 1), oracle::Matrix<double>(piece.count, 1)};
  for (Eigen::Index i = 0; i < own.v.size(); ++i) {
    own.v.data()[i] = all.v.data()[piece.first + i];
    own.e.data()[i] = all.e.data()[piece.first + i];
  }
  return own;
}

/// Where the walk holds a part of the model: the window's buffers of all of it.
const BuffersOfAll* buffers_of_all(const EndToEndWalk& walk) {
  const WholeWindow* whole = whole_window(walk.window);
  if (whole == nullptr) return nullptr;
  return walk.resynchronise ? &whole->seen : &whole->expected;
}

/// Of what left the range on the way it is known that it is not finite, and not whether it is an infinity: Lion's step by
/// an infinity is finite, by a NaN it is not.
Expected as_a_sign_reads_it(const EndToEndWalk& walk, Expected gradient) {
  if (walk.c.recipe.optimizer.kind != "lion" || walk.resynchronise) return gradient;
  for (Eigen::Index i = 0; i < gradient.v.size(); ++i)
    if (!std::isfinite(static_cast<double>(gradient.v.data()[i]))) gradient.e.data()[i] = oracle::infinite;
  return gradient;
}

void step_of(EndToEndWalk& walk, const std::string& p, const Expected& rate) {
  const Recipe& recipe = walk.c.recipe;
  const oracle::OptimizerRules& rules = oracle::rules_of(recipe.optimizer);
  const Choice schedule = schedule_in_force(walk);
  const oracle::StepSetting setting{walk.declared, recipe.optimizer, schedule, corrected_count(walk)};
  const auto state = state_of(recipe.optimizer);
  ExpectedState::Slot& slot = walk.state.slots[p];
  const std::vector<Expected> before = std::exchange(slot.state, std::vector<Expected>(state.size()));
  const Expected gradient = as_a_sign_reads_it(walk, walk.gradients.at(p));
  const oracle::StepTensors<Expected> tensors{gradient, before, slot.state, slot.parameter};
  bool seen = false;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const std::string name = state[i]->name + "." + p;
    slot.state[i] = walk.held("optimizer", name, [&] { return rules.state(i, setting, tensors); });
    seen = seen || walk.tap("optimizer", name) != nullptr;
  }
  const bool from_zero = walk.state.state_from_zero && !(walk.resynchronise && seen);
  slot.parameter = walk.held("optimizer", p, [&] { return rules.parameter(setting, rate, tensors, from_zero); });
}

}  // namespace

void expect_cast(EndToEndWalk& walk) {
  const auto expect = [&walk](const std::string& p, const Expected& master) {
    if (is_given(walk.c.model, "cast") && walk.tap("cast", p) == nullptr) return;
    walk.copies[p] = walk.held("cast", p, [&] { return oracle::cast(walk.declared.storage, master); });
  };
  for (const std::string& p : walk.parameters) expect(p, walk.state.slots[p].parameter);
  for (const auto& [p, master] : walk.frozen) expect(p, master);
}

namespace {

/// What this rank's own search says: of its pieces alone where ranks share the optimizer.
void expect_own_finding(EndToEndWalk& walk, OverflowFound overflow) {
  if (shards_optimizer(walk.c)) {
    oracle::ExpectedTensors pieces;
    for (const std::string& p : walk.parameters)
      pieces[p] = piece_of_expected(whole_of(walk.c), p, walk.buffers.at(p), walk.c.rank);
    overflow = overflow_of(pieces);
  }
  if (overflow == OverflowFound::open) {
    walk.check_output("overflow_check", "found", oracle::scalar(0, std::numeric_limits<double>::infinity()));
    return;
  }
  walk.check_output("overflow_check", "found", oracle::scalar(overflow == OverflowFound::certain ? 1 : 0));
  if (walk.checks.back().status == Status::fail) walk.checks.back().failure = FailureClass::skip_decision;
}

/// Of ranks: what one found all act upon, and what they agree on may be another's finding.
void expect_agreement(EndToEndWalk& walk, OverflowFound overflow) {
  const bool open = overflow == OverflowFound::open;
  walk.check_output("agree", "found",
                    open ? oracle::scalar(0, std::numeric_limits<double>::infinity()) : oracle::scalar(walk.skipped));
  if (walk.checks.back().status == Status::fail) walk.checks.back().failure = FailureClass::skip_decision;
}

}  // namespace

void expect_overflow_check(EndToEndWalk& walk) {
  const BuffersOfAll* all = buffers_of_all(walk);
  const OverflowFound overflow = all != nullptr ? all->overflow : overflow_of(walk.buffers);
  const std::string decides = shards_optimizer(walk.c) || is_pipelined(walk.c) ? "agree" : "overflow_check";
  const Tensor* found = walk.tap(decides, "found");
  walk.skipped = overflow == OverflowFound::certain;
  if (!is_pipelined(walk.c)) expect_own_finding(walk, overflow);
  if (in_ranks(walk.c)) expect_agreement(walk, overflow);
  if (overflow != OverflowFound::open) return;
  // Adopted only where the subject's own bits certify it; otherwise nothing can be expected any more.
  walk.ended = found == nullptr || !walk.certified(walk.name(decides, "found"));
  walk.skipped = found != nullptr && found->integer(0) != 0;
}

namespace {

Expected inverse_scale(const EndToEndWalk& walk) {
  return oracle::inverse_scale(walk.declared, walk.c, static_cast<std::size_t>(walk.window), walk.state.scale.scale);
}

void unscale(EndToEndWalk& walk, const oracle::ExpectedTensors& buffers) {
  const Expected by = inverse_scale(walk);
  for (const std::string& p : walk.parameters) {
    hold_input(walk, "unscale", "in.buffer." + p, buffers.at(p));
    walk.gradients[p] = walk.held("unscale", "d." + p, [&] { return oracle::scaled(buffers.at(p), by); });
  }
}

/// What one rank finds of its pieces of a stage's parameters, where ranks share the optimizer.
Expected part_of_norm(const EndToEndWalk& walk, const oracle::ExpectedTensors& gradients, std::size_t rank,
                      std::size_t stage = 0) {
  oracle::ExpectedTensors pieces;
  const Case& whole = whole_of(walk.c);
  for (const std::string& p : walk.parameters) {
    if (is_pipelined(walk.c) && stage_with_tensor(walk.c, p) != stage) continue;
    if (Expected own = piece_of_expected(whole, p, gradients.at(p), rank); own.v.size() > 0)
      pieces.emplace(p, std::move(own));
  }
  return oracle::norm_part(walk.declared, walk.c, pieces);
}

void hold_own_part(EndToEndWalk& walk, const oracle::ExpectedTensors& gradients) {
  walk.held("norm", "part", [&] { return part_of_norm(walk, gradients, walk.c.rank); });
}

Expected norm_over_ranks(const EndToEndWalk& walk, const oracle::ExpectedTensors& gradients) {
  oracle::PartsByStage<Expected> parts(stages_of(walk.c));
  for (std::size_t stage = 0; stage < parts.size(); ++stage)
    for (std::size_t rank = 0; rank < sharers_of(whole_of(walk.c)); ++rank)
      parts[stage].push_back(part_of_norm(walk, gradients, rank, stage));
  return oracle::norm_of_parts(walk.c, parts);
}

/// The norm of all gradients, unscaled or the buffers themselves.
Expected norm_of_all(EndToEndWalk& walk, const oracle::ExpectedTensors& gradients, bool unscaled) {
  const Choice& clip = walk.c.recipe.clip;
  if (shards_optimizer(walk.c)) return norm_over_ranks(walk, gradients);
  if (is_pipelined(walk.c)) return norm_over_stages(walk, gradients);
  const BuffersOfAll* all = buffers_of_all(walk);
  if (all == nullptr) return oracle::norm(walk.declared, clip, gradients);
  if (!unscaled) return oracle::norm(walk.declared, clip, all->terms);
  const auto& tapped = whole_window(walk.window)->unscaled;
  if (walk.resynchronise && tapped) return oracle::norm(walk.declared, clip, *tapped);
  return oracle::norm(walk.declared, clip, all->terms.times(clip, inverse_scale(walk)));
}

void clip_gradients(EndToEndWalk& walk, oracle::ExpectedTensors& gradients, bool unscaled) {
  const Choice& clip = walk.c.recipe.clip;
  Expected coefficient = oracle::scalar(1);
  if (clips_by_norm(clip)) {
    for (const std::string& p : walk.parameters) hold_input(walk, "norm", "in.d." + p, gradients.at(p));
    if (shards_optimizer(walk.c) && !is_pipelined(walk.c)) hold_own_part(walk, gradients);
    const Expected norm = walk.held("norm", "norm", [&] { return norm_of_all(walk, gradients, unscaled); });
    coefficient = walk.held("clip", "coefficient", [&] { return oracle::coefficient(clip, norm); });
  }
  for (const std::string& p : walk.parameters) {
    Expected& gradient = gradients.at(p);
    hold_input(walk, "clip", "in.d." + p, gradient);
    if (clips(clip)) {
      gradient = walk.held("clip", "d." + p, [&] { return oracle::clipped(clip, coefficient, gradient); });
    }
  }
}

}  // namespace

void expect_gradient(EndToEndWalk& walk) {
  const ClipPlace place = clip_place(walk);
  if (place == ClipPlace::before_unscale) {
    clip_gradients(walk, walk.buffers, false);
    unscale(walk, walk.buffers);
  } else {
    unscale(walk, walk.buffers);
    if (place != ClipPlace::each_gradient) clip_gradients(walk, walk.gradients, true);
  }
  if (walk.departure != nullptr) walk.stepped = walk.gradients;
  const Choice decay = decay_in_force(walk);
  const oracle::StepRate derived_rate = oracle::step_rate(walk.c.recipe.learning_rate, schedule_count(walk));
  for (const std::string& p : walk.parameters) {
    Expected& gradient = walk.gradients[p];
    if (!decays_gradient(decay) || !oracle::decays(walk.c.model, decay, p)) continue;
    gradient = walk.held("decay", "d." + p, [&] {
      Expected all = gradient;
      for (int i = decays_of(walk); i > 0; --i) {
        all = oracle::decayed(walk.declared, decay, derived_rate, all, walk.state.slots[p].parameter);
      }
      return all;
    });
  }
}

namespace {

/// The steps taken before this window and `more`; where the optimizer counts otherwise, either count may be what a
/// recorder saw.
Expected steps_seen(const EndToEndWalk& walk, const std::string& stage, const std::string& tensor, std::int64_t more) {
  const Tensor* told = walk.tap(stage, tensor);
  const std::int64_t own = optimizer_count(walk) + more;
  const bool its_own = told != nullptr && told->integer(0) == own;
  return oracle::scalar(static_cast<long double>(its_own ? own : walk.state.step + more));
}

}  // namespace

void expect_update(EndToEndWalk& walk) {
  const Recipe& recipe = walk.c.recipe;
  const oracle::StepRate derived_rate = oracle::step_rate(recipe.learning_rate, schedule_count(walk));
  const Choice decay = decay_in_force(walk);
  const Expected rate = oracle::rate(walk.declared, recipe.learning_rate, schedule_count(walk));
  hold_input(walk, "optimizer", "in.learning_rate", oracle::predicted_constant(rate));
  hold_input(walk, "optimizer", "in.step", steps_seen(walk, "optimizer", "in.step", 0));
  if (walk.departure != nullptr && walk.departure->optimizer_count)
    hold_input(walk, "schedule", "in.step", steps_seen(walk, "schedule", "in.step", 0));
  for (const std::string& p : walk.parameters) {
    Expected& parameter = walk.state.slots[p].parameter;
    if (!decays_gradient(decay) && oracle::decays(walk.c.model, decay, p)) {
      parameter = walk.held("decay", p, [&] {
        Expected shrunk = parameter;
        for (int i = decays_of(walk); i > 0; --i) {
          shrunk = oracle::decayed(walk.declared, decay, derived_rate, walk.gradients.at(p), shrunk);
        }
        return shrunk;
      });
    }
    hold_input(walk, "optimizer", "in.d." + p, walk.gradients.at(p));
    hold_input(walk, "optimizer", "in." + p, parameter);
    step_of(walk, p, rate);
  }
  if (!shards_optimizer(walk.c) || shards_parameters(walk.c)) return;
  for (const std::string& p : walk.parameters) {
    Expected& parameter = walk.state.slots[p].parameter;
    parameter = walk.held("gather_updated", p, [&] { return parameter; });
  }
}

void expect_no_step(EndToEndWalk& walk) {
  for (const std::string& p : walk.parameters) {
    if (walk.tap("optimizer", p) == nullptr) continue;
    Expected& parameter = walk.state.slots[p].parameter;
    parameter = walk.held("optimizer", p, [&] { return parameter; });
    TensorCheck& check = walk.checks.back();
    if (check.status == Status::fail) check.failure = FailureClass::skip_decision;
  }
}

void expect_end(EndToEndWalk& walk) {
  const Recipe& recipe = walk.c.recipe;
  if (checks_overflow(recipe.loss_scale)) {
    walk.state.scale = oracle::scale_after(recipe.loss_scale, walk.state.scale, walk.skipped);
    walk.check_output("scaler", "scale", walk.state.scale.scale);
    walk.check_output("scaler", "growth_counter",
                      oracle::scalar(static_cast<long double>(walk.state.scale.growth_counter)));
  }
  walk.check_output(
      "schedule", "learning_rate",
      oracle::predicted_constant(oracle::rate(walk.declared, recipe.learning_rate, schedule_count(walk))));
  const Expected after = steps_seen(walk, "schedule", "step", walk.skipped ? 0 : 1);
  walk.state.step += walk.skipped ? 0 : 1;
  walk.check_output("schedule", "step", after);
}

}  // namespace tally
