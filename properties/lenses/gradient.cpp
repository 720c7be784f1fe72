// From the buffers to the gradient that the optimizer reads: overflow check, unscale, norm, clip, decay.
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::FloatView;

// Overflow.

/// Where the walk holds a part of the model: the window's buffers of all of it.
const BuffersOfAll* buffers_of_all(const Walk& walk) {
  const WholeWindow* whole = whole_window(walk.trace, walk.window);
  if (whole == nullptr) return nullptr;
  return walk.lens == Lens::group ? &whole->seen : &whole->expected;
}

void check_overflow(Walk& walk) {
  bool found = false, complete = true;
  for (const std::string& p : walk.parameters) {
    const Value buffer = summed(walk, "overflow_check", p);
    complete = complete && buffer.known();
    found = found || (buffer.known() && oracle::any_non_finite(*buffer.bits()));
  }
  const WholeWindow* whole = whole_window(walk.trace, walk.window);
  found = found || (whole != nullptr && whole->non_finite);
  walk.overflows = complete ? std::optional(found) : std::nullopt;
  if (shards_optimizer(walk.c)) return;  // each searches its own pieces
  if (is_pipelined(walk.c)) return walk_found_by_stages(walk);
  if (complete && walk.output("overflow_check", "found", oracle::scalar(found ? 1 : 0)).known())
    walk.note_failure(FailureClass::skip_decision);
  const Tensor* decision = walk.tap("overflow_check", "found");
  walk.skipped = decision != nullptr && decision->integer(0) != 0;
}

/// A decision that the walk expects; what is open may be either.
void hold_decision(Walk& walk, const std::string& stage, OverflowFound found) {
  walk.output(stage, "found",
              found == OverflowFound::open ? oracle::scalar(0, std::numeric_limits<double>::infinity())
                                           : oracle::scalar(found == OverflowFound::certain ? 1 : 0));
  walk.note_failure(FailureClass::skip_decision);
}

void expect_overflow(Walk& walk) {
  const BuffersOfAll* all = buffers_of_all(walk);
  const OverflowFound overflow = all != nullptr ? all->overflow : overflow_of(walk.buffers);
  const std::string decides = shards_optimizer(walk.c) || is_pipelined(walk.c) ? "agree" : "overflow_check";
  walk.skipped = overflow == OverflowFound::certain;
  if (!is_pipelined(walk.c))
    hold_decision(walk, "overflow_check", shards_optimizer(walk.c) ? overflow_of_pieces(walk) : overflow);
  if (in_ranks(walk.c)) hold_decision(walk, "agree", overflow);
  if (overflow != OverflowFound::open) return;
  // Taken over only where the subject's own bits certify it; otherwise nothing can be expected any more.
  const Tensor* found = walk.tap(decides, "found");
  walk.ended = found == nullptr || !walk.certified(walk.name(decides, "found"));
  walk.skipped = found != nullptr && found->integer(0) != 0;
}

// Unscale, norm, clip.

/// 1 / scale as unscale reads it. Unknown where it is needed and not tapped; 1 where nothing is multiplied.
Value inverse_scale(Walk& walk) {
  const Expected wanted =
      oracle::inverse_scale(walk.declared, walk.c, static_cast<std::size_t>(walk.window), walk.state.scale.scale);
  if (!walk.is_local()) return wanted;
  const bool needed = written_scale(walk.c.recipe.loss_scale) != nullptr || walk.declared.claims.divide == "window";
  if (needed || walk.tap("unscale", "in.inverse_scale") != nullptr)
    return walk.output("unscale", "in.inverse_scale", oracle::predicted_constant(wanted));
  static const Tensor one = [] {
    Tensor scalar(Dtype::fp32, {});
    scalar.set(0, 1);
    return scalar;
  }();
  return &one;
}

float value_of(const Value& scalar) { return scalar.floats()(0, 0); }

oracle::ExpectedTensors read_all(const std::map<std::string, Value>& values) {
  oracle::ExpectedTensors all;
  for (const auto& [p, value] : values)
    all.emplace(p, value.bits() != nullptr ? oracle::only_read(*value.bits()) : *value.read());
  return all;
}

/// The norm of all gradients, unscaled or the buffers themselves, where one process has all of them.
Expected norm_of_all(const oracle::Declared& declared, const Walk& walk, const std::map<std::string, Value>& gradients,
                     bool unscaled) {
  const Choice& clip = walk.c.recipe.clip;
  const WholeWindow* whole = whole_window(walk.trace, walk.window);
  if (whole == nullptr) return oracle::norm(declared, clip, read_all(gradients));
  if (walk.is_local()) return oracle::norm(declared, clip, *whole->read_by_norm);
  const BuffersOfAll* all = buffers_of_all(walk);
  if (!unscaled) return oracle::norm(declared, clip, all->terms);
  if (walk.lens == Lens::group && whole->unscaled) return oracle::norm(declared, clip, *whole->unscaled);
  const Expected by =
      oracle::inverse_scale(declared, walk.c, static_cast<std::size_t>(walk.window), walk.state.scale.scale);
  return oracle::norm(declared, clip, all->terms.times(declared, clip, by));
}

/// The norm as the window's clip has it; unknown where it cannot be judged.
void walk_norm(Walk& walk, const std::map<std::string, Value>& gradients, bool unscaled) {
  std::map<std::string, Value> read;
  for (const std::string& p : walk.parameters) {
    const Value gradient = walk.told_input("norm", "in.d." + p, gradients.at(p));
    if (gradient.known()) read[p] = gradient;
  }
  if (!walk.is_local()) {
    if (shards_optimizer(walk.c) && !is_pipelined(walk.c))
      walk.output("norm", "part",
                  [&](const oracle::Declared& declared) { return own_part_of_norm(declared, walk, gradients); });
    walk.output("norm", "norm", [&](const oracle::Declared& declared) {
      return shards_optimizer(walk.c) ? norm_over_ranks(declared, walk, gradients)
             : is_pipelined(walk.c)   ? norm_over_stages(declared, walk, gradients)
                                      : norm_of_all(declared, walk, gradients, unscaled);
    });
    return;
  }
  if (shards_optimizer(walk.c)) return walk_norm_over_ranks(walk);
  if (is_pipelined(walk.c)) return walk_norm_over_stages(walk);
  if (read.size() != walk.parameters.size()) return;
  const WholeWindow* whole = whole_window(walk.trace, walk.window);
  if (whole != nullptr && !whole->read_by_norm) return walk.leave_open("norm", "norm");
  walk.output("norm", "norm",
              [&](const oracle::Declared& declared) { return norm_of_all(declared, walk, read, unscaled); });
}

void clip_gradients(Walk& walk, std::map<std::string, Value>& gradients, bool unscaled) {
  const Choice& clip = walk.c.recipe.clip;
  const bool by_norm = clips_by_norm(clip);
  Value coefficient;
  if (by_norm) {
    walk_norm(walk, gradients, unscaled);
    const Value norm = walk.input("clip", "in.norm", walk.left("norm", "norm"));
    const Bits bits{
        [&] { return oracle::predicted_coefficient(walk.declared, clip, value_of(norm), walk.state.step); }};
    coefficient = !norm.known() ? Value(walk.require_tap("clip", "coefficient"))
                                : walk.output(
                                      "clip", "coefficient",
                                      [&](const oracle::Declared& declared) {
                                        return oracle::coefficient(declared, clip, *norm.read(), walk.state.step);
                                      },
                                      {}, bits);
  }
  for (const std::string& p : walk.parameters) {
    Value& kept = gradients.at(p);
    const Value gradient = walk.told_input("clip", "in.d." + p, kept);
    if (!clips(clip)) continue;
    kept = walk.left("clip", "d." + p);
    if (!gradient.known() || (by_norm && !coefficient.known())) continue;
    const auto bits = [&] {
      return oracle::rounded_clip(clip, by_norm ? value_of(coefficient) : 1, FloatView(*gradient.bits()));
    };
    const auto bound = [&](const oracle::Declared& declared) {
      return oracle::clipped(declared, clip, by_norm ? *coefficient.read() : oracle::scalar(1), *gradient.read());
    };
    kept = walk.exact_output("clip", "d." + p, bits, bound);
  }
}

}  // namespace

OverflowFound overflow_of(const std::map<std::string, Value>& buffers) {
  OverflowFound found = OverflowFound::none;
  for (const auto& [name, value] : buffers) {
    const auto buffer = value.read();
    for (Eigen::Index i = 0; i < buffer->v.size(); ++i) {
      const bool decided = std::isfinite(buffer->e.data()[i]), finite = std::isfinite(buffer->v.data()[i]);
      if (decided && !finite) return OverflowFound::certain;
      if (!decided) found = OverflowFound::open;
    }
  }
  return found;
}

void walk_overflow(Walk& walk) { walk.is_local() ? check_overflow(walk) : expect_overflow(walk); }

void walk_unscale(Walk& walk) {
  const Value by = inverse_scale(walk);
  for (const std::string& p : walk.parameters) {
    const Value buffer = summed(walk, "unscale", p);
    Value& gradient = walk.gradients[p];
    gradient = walk.left("unscale", "d." + p);
    if (!buffer.known() || !by.known()) continue;
    gradient = walk.exact_output(
        "unscale", "d." + p, [&] { return oracle::rounded_product(FloatView(*buffer.bits()), value_of(by)); },
        [&](const oracle::Declared& declared) { return oracle::scaled(declared, *buffer.read(), *by.read()); });
  }
}

void walk_gradient(Walk& walk) {
  const ClipPlace place = clip_place(walk);
  if (place == ClipPlace::before_unscale) clip_gradients(walk, walk.buffers, false);
  walk_unscale(walk);
  const bool at_the_end = place == ClipPlace::of_window || place == ClipPlace::running_sum;
  if (at_the_end && (clips(walk.c.recipe.clip) || !walk.is_local())) clip_gradients(walk, walk.gradients, true);
  if (walk.deviation != nullptr) walk.stepped = walk.gradients;
  walk_decay(walk, true);
}

}  // namespace tally
