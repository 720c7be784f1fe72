// From the micro-batches' gradients to the one the optimizer reads: accumulate, overflow check, unscale, norm, clip.
#include "oracle/case/kinds.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/predicted_stages.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/whole_model.hpp"

namespace tally {
namespace {

using oracle::as_read;
using oracle::floats_of;
using oracle::FloatView;

float value_of(const Tensor& scalar) { return floats_of(scalar)(0, 0); }

/// What the last sum over ranks left in a buffer; nullptr where it left no tap, or nothing was added up.
const Tensor* summed_by_ranks(const LocalWalk& walk, const std::string& p) {
  if (!communicates_each(walk.c) || replicas_of(walk.c) > 1) return walk.tap("reduce", "reduced." + p);
  const int last = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window))) - 1;
  const bool gradients = communicate_of(walk.c) == Communicate::micro_batch;
  return gradients ? walk.tap("accumulate", "buffer." + p, last) : walk.tap("reduce", "reduced." + p, last);
}

/// The buffer that micro-batch k is added to, behind the first.
const Tensor* buffer_before(const LocalWalk& walk, const std::string& p, int k) {
  const bool total = in_ranks(walk.c) && communicate_of(walk.c) == Communicate::running_total;
  return total ? walk.tap("reduce", "reduced." + p, k - 1)
               : walk.tap("accumulate", "buffer." + p, backward_before(walk.c, walk.micro_batches(), k));
}

/// The gradient that it is added: this rank's, or the sum of all ranks'.
const Tensor* gradient_added(const LocalWalk& walk, const std::string& p) {
  if (in_ranks(walk.c) && communicate_of(walk.c) == Communicate::micro_batch) return walk.tap("reduce", "reduced." + p);
  const StageTensor given = gradient_of_parameter(walk.layers, p);
  return walk.tap(given.stage, given.tensor);
}

/// What the window's end reads: of ranks the sum of their buffers; else the last buffer, or the gradient where there
/// is no buffer.
const Tensor* summed(LocalWalk& walk, const std::string& stage, const std::string& p) {
  if (in_ranks(walk.c)) return walk.handed(stage, "in.buffer." + p, summed_by_ranks(walk, p));
  const int last = walk.micro_batches() - 1;
  const StageTensor gradient = gradient_of_parameter(walk.layers, p);
  if (walk.direct) return walk.handed(stage, "in.d." + p, walk.tap(gradient.stage, gradient.tensor, last));
  return walk.handed(stage, "in.buffer." + p, walk.tap("accumulate", "buffer." + p, last));
}

/// A compensated sum whose compensation is tapped: what it leaves is known bit by bit. False where it is not.
bool check_compensated(LocalWalk& walk, const std::string& p, const Tensor& buffer, const Tensor& gradient) {
  const bool claimed = oracle::claim_of(walk.declared, "accumulate").algorithm == "kahan";
  if (!claimed || walk.tap("accumulate", "in.compensation." + p) == nullptr) return false;
  const int k = walk.micro_batch;
  std::optional<Tensor> zeros;
  const int last = backward_before(walk.c, walk.micro_batches(), k);
  const Tensor* before = last < 0 ? &zeros.emplace(walk.zeros(p, walk.c.precision.accumulate))
                                  : walk.tap("accumulate", "compensation." + p, last);
  const Tensor* compensation = walk.handed("accumulate", "in.compensation." + p, before);
  const auto next = [&] {
    return oracle::rounded_compensated(walk.declared, FloatView(buffer), FloatView(*compensation), FloatView(gradient));
  };
  walk.check_bits("accumulate", "buffer." + p, [&] { return next().buffer; });
  walk.check_bits("accumulate", "compensation." + p, [&] { return next().compensation; });
  return true;
}

/// One more addition, of which the claim gives the bits or a bound.
void check_buffer(LocalWalk& walk, const std::string& tensor, const Tensor& buffer, const Tensor& gradient) {
  auto bits = oracle::rounded_accumulate(walk.declared, FloatView(buffer), FloatView(gradient));
  if (bits) {
    walk.check_bits("accumulate", tensor, [&] { return std::move(*bits); });
  } else {
    walk.check_output("accumulate", tensor,
                      [&] { return oracle::accumulated(walk.declared, as_read(buffer), as_read(gradient)); });
  }
}

}  // namespace

void check_accumulate(LocalWalk& walk) {
  const int k = walk.micro_batch;
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("accumulate", "in.d." + p, gradient_added(walk, p));
    std::optional<Tensor> zeros;
    const Tensor* before = backward_before(walk.c, walk.micro_batches(), k) < 0
                               ? &zeros.emplace(walk.zeros(p, walk.c.precision.accumulate))
                               : buffer_before(walk, p, k);
    const Tensor* buffer = walk.handed("accumulate", "in.buffer." + p, before);
    if (gradient == nullptr || buffer == nullptr || check_compensated(walk, p, *buffer, *gradient)) continue;
    check_buffer(walk, "buffer." + p, *buffer, *gradient);
  }
}

void check_overflow(LocalWalk& walk) {
  bool found = false, complete = true;
  for (const std::string& p : walk.parameters) {
    const Tensor* buffer = summed(walk, "overflow_check", p);
    complete = complete && buffer != nullptr;
    found = found || (buffer != nullptr && oracle::any_non_finite(*buffer));
  }
  const WholeWindow* whole = whole_window(walk.window);
  found = found || (whole != nullptr && whole->non_finite);
  walk.overflows = complete ? std::optional(found) : std::nullopt;
  if (shards_optimizer(walk.c)) return;  // each searches its own pieces
  if (is_pipelined(walk.c)) return check_found_by_stages(walk);
  if (complete) {
    const Tensor* decision = walk.check_output("overflow_check", "found", oracle::scalar(found ? 1 : 0));
    if (decision != nullptr && !walk.checks.empty() && walk.checks.back().status == Status::fail) {
      walk.checks.back().failure = FailureClass::skip_decision;
    }
  }
  const Tensor* decision = walk.tap("overflow_check", "found");
  walk.skipped = decision != nullptr && decision->integer(0) != 0;
}

void check_unscale(LocalWalk& walk) {
  const auto window = static_cast<std::size_t>(walk.window);
  const oracle::Expected wanted = oracle::inverse_scale(walk.declared, walk.c, window, walk.state.scale.scale);
  const bool needed = written_scale(walk.c.recipe.loss_scale) != nullptr || walk.declared.claims.divide == "window";
  const Tensor* inverse = needed || walk.tap("unscale", "in.inverse_scale") != nullptr
                              ? walk.check_output("unscale", "in.inverse_scale", oracle::predicted_constant(wanted))
                              : nullptr;
  for (const std::string& p : walk.parameters) {
    const Tensor* buffer = summed(walk, "unscale", p);
    if (buffer == nullptr || (needed && inverse == nullptr)) continue;
    const float by = inverse == nullptr ? 1 : value_of(*inverse);
    walk.check_bits("unscale", "d." + p, [&] { return oracle::rounded_product(FloatView(*buffer), by); });
  }
}

void check_norm(LocalWalk& walk) {
  std::map<std::string, const Tensor*> read;
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("norm", "in.d." + p, walk.tap("unscale", "d." + p));
    if (gradient != nullptr) read[p] = gradient;
  }
  if (shards_optimizer(walk.c)) return check_norm_over_ranks(walk);
  if (is_pipelined(walk.c)) return check_norm_over_stages(walk);
  if (read.size() != walk.parameters.size()) return;
  const WholeWindow* whole = whole_window(walk.window);
  if (whole != nullptr && !whole->read_by_norm) {
    walk.checks.push_back(not_run({"local", TapName{walk.window, -1, "norm", "norm"}.text(), "norm"}));
    return;
  }
  walk.check_output("norm", "norm", [&] {
    if (whole != nullptr) return oracle::norm(walk.declared, walk.c.recipe.clip, *whole->read_by_norm);
    oracle::ExpectedTensors gradients;
    for (const auto& [p, gradient] : read) gradients.emplace(p, oracle::only_read(*gradient));
    return oracle::norm(walk.declared, walk.c.recipe.clip, gradients);
  });
}

void check_clip(LocalWalk& walk) {
  const Choice& clip = walk.c.recipe.clip;
  const bool by_norm = clips_by_norm(clip);
  const Tensor* coefficient = nullptr;
  if (by_norm) {
    const Tensor* norm = walk.handed("clip", "in.norm", walk.tap("norm", "norm"));
    const auto bound = [&] { return oracle::coefficient(clip, as_read(*norm)); };
    const Bits bits{[&] { return oracle::predicted_coefficient(walk.declared, clip, value_of(*norm)); }};
    coefficient = norm == nullptr ? walk.require_tap("clip", "coefficient")
                                  : walk.check_output("clip", "coefficient", bound, {}, bits);
  }
  for (const std::string& p : walk.parameters) {
    const Tensor* gradient = walk.handed("clip", "in.d." + p, walk.tap("unscale", "d." + p));
    if (gradient == nullptr || (by_norm && coefficient == nullptr)) continue;
    walk.check_bits("clip", "d." + p, [&] {
      return oracle::rounded_clip(clip, by_norm ? value_of(*coefficient) : 1, FloatView(*gradient));
    });
  }
}

}  // namespace tally
