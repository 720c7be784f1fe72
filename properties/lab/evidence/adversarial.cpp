// Families of hard cases, and values that hurt the arithmetic.
#include "properties/lab/evidence/adversarial.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/io.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/evidence/cases.hpp"
#include "properties/lab/evidence/hill_climb.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

std::size_t columns_of(const Tensor& tensor) { return static_cast<std::size_t>(tensor.shape.back()); }
std::size_t rows_of(const Tensor& tensor) { return tensor.elements() / columns_of(tensor); }

}  // namespace

void pair_columns(Tensor& tensor, int sign) {
  const std::size_t columns = columns_of(tensor);
  for (std::size_t row = 0; row < rows_of(tensor); ++row) {
    for (std::size_t column = 1; column < columns; column += 2) {
      const std::size_t i = row * columns + column;
      tensor.set(i, sign * tensor.value(i - 1));
      if (sign < 0 && row % 2 == 1 && tensor.value(i) != 0) tensor.set_bits(i, tensor.bits(i) - 1);
    }
  }
  tensor.drawing.reset();
}

void repeat_rows(Tensor& tensor) {
  const std::size_t columns = columns_of(tensor);
  for (std::size_t row = 1; row < rows_of(tensor); row += 2) {
    for (std::size_t k = 0; k < columns; ++k) tensor.set_bits(row * columns + k, tensor.bits((row - 1) * columns + k));
  }
  tensor.drawing.reset();
}

void powers_of_two(Tensor& tensor, std::uint64_t seed) {
  executor::Schedule random(seed);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const double power = std::ldexp(1.0, static_cast<int>(random.below(7)) - 3);
    tensor.set(i, random.below(2) == 0 ? power : -power);
    tensor.set_bits(i, tensor.bits(i) + random.below(3) - 1);
  }
  tensor.drawing.reset();
}

void tiny(Tensor& tensor, std::uint64_t seed) { draw(tensor, {1, seed, "tiny"}); }

void times_power(Tensor& tensor, int exponent) {
  const double most = largest(tensor.dtype);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    tensor.set(i, std::clamp(std::ldexp(tensor.value(i), exponent), -most, most));
  }
  tensor.drawing.reset();
}

void fill(Tensor& tensor, double value) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value);
  tensor.drawing.reset();
}

double largest(Dtype dtype) {
  const oracle::Format format = oracle::format_of(dtype);
  return std::ldexp(2 - std::ldexp(1.0, 1 - format.p), format.emax);
}

namespace {

bool is_float(const Tensor& tensor) { return tensor.dtype != Dtype::i64 && tensor.dtype != Dtype::u8; }

/// A drawn plan with these layers before the last one and this loss.
Plan plan_with(Dtype storage, std::uint64_t seed, std::vector<Layer> hidden, Choice loss) {
  Plan plan = drawn_plan(storage, seed);
  plan.hidden = std::move(hidden);
  plan.loss = std::move(loss);
  plan.ignored_percent = 0;
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);
  }
  return plan;
}

Layer linear(const char* name, std::int64_t out) { return layer("linear", name, {{"out", out}}); }

Case cancellation(Dtype storage, std::uint64_t seed) {
  Plan plan = plan_with(storage, seed, {}, choice("loss", "mse"));
  if (seed % 2 == 0) plan.hidden = {linear("fc1", 16), layer("tanh")};
  plan.input = 16;
  Case c = case_of(plan);
  pair_columns(c.tensors.at("x"), 1);
  repeat_rows(c.tensors.at("x"));
  pair_columns(c.tensors.at(seed % 2 == 0 ? "fc1.weight" : "out.weight"), -1);
  fill(c.tensors.at("out.bias"), 0);
  Tensor& target = c.tensors.at("target");  // of repeated rows opposite: the gradient of a weight cancels too
  repeat_rows(target);
  const std::size_t columns = target.elements() / static_cast<std::size_t>(target.shape[0]);
  for (std::size_t i = 0; i < target.elements(); ++i) {
    if (i / columns % 2 == 1) target.set(i, -target.value(i));
  }
  return c;
}

/// Normal data around a mean of 10^6 standard deviations, or as far as the format goes.
Case far_from_zero(Dtype storage, std::uint64_t seed, Layer norm) {
  Plan plan = plan_with(storage, seed, {linear("fc1", 8), std::move(norm), layer("relu")}, choice("loss", "mse"));
  Case c = case_of(plan);
  fill(c.tensors.at("fc1.bias"), std::min(1e6, largest(storage) / 2));
  return c;
}

Case batch_norm_far(Dtype storage, std::uint64_t seed) {
  const char* statistics = seed % 2 == 0 ? "micro_batch" : "window";
  return far_from_zero(storage, seed, layer("batch_norm", "bn1", {{"statistics", std::string(statistics)}}));
}

Case layer_norm_far(Dtype storage, std::uint64_t seed) {
  return far_from_zero(storage, seed, layer("layer_norm", "ln1"));
}

Case constant_features(Dtype storage, std::uint64_t seed) {
  Plan plan = plan_with(
      storage, seed,
      {linear("fc1", 8), layer("batch_norm", "bn1", {{"statistics", std::string("micro_batch")}}), layer("tanh")},
      choice("loss", "cross_entropy"));
  Case c = case_of(plan);
  Tensor& x = c.tensors.at("x");
  const auto columns = static_cast<std::size_t>(x.shape[1]);
  for (std::size_t i = columns; i < x.elements(); ++i) x.set_bits(i, x.bits(i % columns));
  x.drawing.reset();
  return c;
}

Case far_logits(Dtype storage, std::uint64_t seed) {
  Plan plan = plan_with(storage, seed, {}, choice("loss", "cross_entropy"));
  plan.outputs = 5;
  Case c = case_of(plan);
  Tensor& bias = c.tensors.at("out.bias");
  for (std::size_t i = 0; i < bias.elements(); ++i) bias.set(i, i % 2 == 0 ? 80 : -80);
  bias.drawing.reset();
  return c;
}

Case subnormal_inputs(Dtype storage, std::uint64_t seed) {
  Plan plan = drawn_plan(storage, seed);
  Case c = case_of(plan);
  tiny(c.tensors.at("x"), seed);
  return c;
}

Case subnormal_gradients(Dtype storage, std::uint64_t seed) {
  Plan plan = plan_with(storage, seed, {linear("fc1", 4)}, choice("loss", "mse"));
  Case c = case_of(plan);
  std::uint64_t drawing = seed;
  for (auto& [name, tensor] : c.tensors) {
    if (is_float(tensor) && name != "x" && name != "fc1.weight") tiny(tensor, ++drawing);
  }
  return c;
}

Case all_ignored(Dtype storage, std::uint64_t seed) {
  Plan plan = drawn_plan(storage, seed);
  plan.loss = choice("loss", "cross_entropy");
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  plan.empty_micro_batch = true;
  at_least_windows(plan, 2);
  at_least_micro_batches(plan, 2);
  Case c = case_of(plan);
  Tensor& target = c.tensors.at("target");
  const auto ignored = static_cast<double>(c.model.loss.integer("ignore_index"));
  const auto end = static_cast<std::size_t>(c.windows.size() > 2 ? first_row(c, 2) : target.shape[0]);
  for (auto row = static_cast<std::size_t>(first_row(c, 1)); row < end; ++row) target.set(row, ignored);
  return c;
}

Case near_powers(Dtype storage, std::uint64_t seed) {
  Case c = case_of(drawn_plan(storage, seed));
  std::uint64_t drawing = seed;
  for (auto& [name, tensor] : c.tensors) {
    if (is_float(tensor) && !name.ends_with("running_var")) powers_of_two(tensor, ++drawing);
  }
  return c;
}

Case near_overflow(Dtype storage, std::uint64_t seed) {
  Case c = case_of(plan_with(storage, seed, {linear("fc1", 8), layer("relu")}, choice("loss", "mse")));
  const int half = oracle::format_of(storage).emax / 2;
  times_power(c.tensors.at("x"), half);
  times_power(c.tensors.at("fc1.weight"), half);
  return c;
}

Case many_micro_batches(Dtype storage, std::uint64_t seed) {
  Plan plan = plan_with(storage, seed, {}, choice("loss", "mse"));
  plan.input = 3;
  plan.windows = {std::vector<std::int64_t>(256, 1)};
  return case_of(plan);
}

/// A drawn case, or one of another family, after up to 60 random changes: extreme values side by side.
Case changed(Dtype storage, std::uint64_t seed) {
  executor::Schedule random(seed);
  const auto others = hard_families().size() - 2;  // all but the long one and this
  CleanCase made{
      seed % 2 == 0 ? case_of(drawn_plan(storage, seed)) : hard_families()[random.below(others)].make(storage, seed),
      {}};
  for (std::uint64_t left = 1 + random.below(60); left > 0; --left) change(made, random);
  return made.c;
}

}  // namespace

const std::vector<HardFamily>& hard_families() {
  static const std::vector<HardFamily> families{
      {"cancellation", "products and row gradients cancel to a few ulps", cancellation},
      {"batch_norm, mean / std 1e6", "the variance is far below the squares", batch_norm_far},
      {"layer_norm, mean / std 1e6", "the same along a row", layer_norm_far},
      {"constant features", "a variance that is rounding alone", constant_features},
      {"logits of 80 and -80", "probabilities underflow", far_logits},
      {"subnormal inputs", "every product underflows", subnormal_inputs},
      {"subnormal gradients", "gradients underflow", subnormal_gradients},
      {"ignored micro-batches and window", "nothing to divide by", all_ignored},
      {"powers of two and neighbours", "ties and exponent borders", near_powers},
      {"near overflow", "sums around the largest number", near_overflow},
      {"256 micro-batches", "a long accumulation", many_micro_batches},
      {"any of these, changed at random", "extremes side by side", changed, 20},
  };
  return families;
}

}  // namespace tally
