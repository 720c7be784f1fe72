// Changes that must pass although they round elsewhere, or not at all: other orders of additions, divisions at another
// place.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The bias gradient adds its rows in an order drawn from the data: every order of additions is legal; atomics differ
// by no more.
namespace tally::adds_as_atomics_would_fault {
namespace {

/// Column sums in fp32 over rows in a shuffled order, rounded once to the storage format.
void around(Stream& stream, BiasGradientArguments arguments, Kernel<BiasGradientArguments> shipped) {
  shipped(stream, arguments);
  stream.synchronize();
  Tensor dy(arguments.storage, {arguments.rows, arguments.features});
  stream.device().read(arguments.dy, dy.bytes.data(), dy.bytes.size());
  std::vector<std::size_t> order(static_cast<std::size_t>(arguments.rows));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(dy.elements() == 0 ? 1 : dy.bits(0)));
  const auto features = static_cast<std::size_t>(arguments.features);
  change(stream.device(), arguments.db, arguments.storage, arguments.features, [&](std::size_t i, double) {
    float sum = 0;
    for (const std::size_t row : order) sum += static_cast<float>(dy.value(row * features + i));
    return static_cast<double>(sum);
  });
}

const std::string operation = "linear.bias_gradient", shipped = "column_lanes", mutant = "adds-as-atomics-would";

void add_in_any_order(Stream& stream, const BiasGradientArguments& arguments) {
  around(stream, arguments, kernel<BiasGradientArguments>(operation, stream.device().kind(), shipped));
}

/// It may not claim the shipped kernel's order: `any` names none, so that it is held to the bound alone.
const Stages& legal() {
  static const Stages stages = [] {
    for (const ExecutorKind executor : executors_built()) {
      KernelClaim claim = find_kernel(operation, executor, shipped).claim;
      claim.variant = "~" + mutant;
      claim.algorithm = "any";
      claim.additions.clear();
      register_kernel({operation, executor, std::move(claim), typeid(BiasGradientArguments),
                       reinterpret_cast<void (*)()>(add_in_any_order)},
                      std::source_location::current());
    }
    return with_kernel(operation, mutant);
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "adds-as-atomics-would",
    .change = "the bias gradient adds its rows in an order drawn from the data",
    .why = "every order of additions is legal; atomics differ by no more",
    .source = "tensorflow 22398, 39751, pytorch PR 12217",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded", "any_order_of_additions"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::adds_as_atomics_would_fault

// The sum is divided by N when it is unscaled, not each loss before it: one division more or less of the same sum;
// declared, it only rounds elsewhere.
namespace tally::divides_at_the_end_fault {
namespace {

/// Divides by this at the window's end: N, or K where micro-batches take their own means.
double window_divisor(const Run& run) {
  const auto count = [&](std::size_t w) { return static_cast<double>(run.c.windows[w].size()); };
  switch (run.c.normalisation) {
    case Normalisation::window_items:
      return run.window_items;
    case Normalisation::mean_of_means:
      return count(static_cast<std::size_t>(run.window));
    case Normalisation::mean_of_means_configured:
      return count(0);
    case Normalisation::sum:
      return 1;
  }
  return 1;
}

void begin_window(Run& run) {
  stage::begin_window(run);
  run.trace.claims.divide = "window";
  const double by = static_cast<double>(run.window_scale) * window_divisor(run);
  run.inverse_scale.set_scalar(by == 0 ? 0.0f : static_cast<float>(1 / by));
}

void factor(Run& run) {
  const bool means = run.c.normalisation == Normalisation::mean_of_means ||
                     run.c.normalisation == Normalisation::mean_of_means_configured;
  const double items = means                                       ? run.items(run.micro_batch)
                       : run.c.normalisation == Normalisation::sum ? 1
                       : run.window_items == 0                     ? 0
                                                                   : 1;
  run.factor = items == 0 ? 0.0f : static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const Stages& legal() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.factor = factor;
    return copy;
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "divides-at-the-end",
    .change = "the sum is divided by N when it is unscaled, not each loss before it",
    .why = "one division more or less of the same sum; declared, it only rounds elsewhere",
    .source = "Lightning 87: the order of division and summation",
    .laws = {"partition_equals_full_batch", "unequal_items_are_weighted", "short_tail_window", "loss_scale_cancels"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::divides_at_the_end_fault

// The scale is divided by K and then by n in fp32, as `(loss / K).backward()` of a mean does: one division more of the
// same number; declared, it only rounds once more. Where K n is not the divisor a loop has no such form.
namespace tally::factor_rounded_twice_fault {
namespace {

void divide_twice(Run& run) {
  stage::fix_factor(run);
  run.trace.claims.factor = "fp32_twice";
  const bool configured = run.c.normalisation == Normalisation::mean_of_means_configured;
  const std::size_t window = configured ? 0 : static_cast<std::size_t>(run.window);
  const auto micro_batches = static_cast<double>(run.c.windows[window].size());
  const double items = run.items(run.micro_batch);
  const bool means = configured || run.c.normalisation == Normalisation::mean_of_means;
  const bool fits =
      means || (run.c.normalisation == Normalisation::window_items && micro_batches * items == run.window_items);
  if (!fits || items == 0) return;
  run.factor = run.window_scale / static_cast<float>(micro_batches) / static_cast<float>(items);
}

const Stages& legal() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.factor = divide_twice;
    return copy;
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "factor-rounded-twice",
    .change = "the factor is divided by K and then by n in fp32, not once in binary64",
    .why = "one division more of the same number; declared, it only rounds once more",
    .source = "PyTorch: (loss / K).backward() of a mean",
    .laws = {"partition_equals_full_batch", "equal_sizes_make_means_agree", "loss_scale_cancels"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::factor_rounded_twice_fault

// A power-of-two scale is taken out in two factors: multiplying by a power of two rounds nothing.
namespace tally::unscaled_in_two_steps_fault {
namespace {

void unscale(Run& run) {
  stage::unscale(run);
  int exponent = 0;
  if (std::frexp(static_cast<double>(run.window_scale), &exponent) != 0.5) return;
  for (Parameter& each : run.parameters) {
    const Tensor summed = each.buffer ? each.buffer.read() : each.gradient.read();
    const double first = std::ldexp(1.0, -exponent / 2);
    const double second = 1 / (static_cast<double>(run.window_scale) * first);
    change(run, each.unscaled, [&](std::size_t i, double) {
      return static_cast<double>(static_cast<float>(summed.value(i) * first)) * second;
    });
    run.tap("unscale", "d." + each.name, each.unscaled);
  }
}

const RegisterEquivalent registered{{
    .name = "unscaled-in-two-steps",
    .change = "a power-of-two scale is taken out in two factors",
    .why = "multiplying by a power of two rounds nothing",
    .source = "pytorch PR 36601: unscaling in parts",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale", "unscaled_by_the_windows_scale"},
    .stages = replaced<&Stages::unscale, unscale>,
}};

}  // namespace
}  // namespace tally::unscaled_in_two_steps_fault
