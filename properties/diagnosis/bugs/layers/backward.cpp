// Bugs of backward.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"

namespace tally::backward_bug {
namespace {

// The scratch for activation gradients is added to.
namespace activation_gradient_added {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".x");
  if (!layer || held.name.micro_batch <= 0) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch - 1, "backward", held.name.tensor);
  if (!before) return std::nullopt;
  Values sum = held.expected;
  for (std::size_t i = 0; i < std::min(sum.size(), before->size()); ++i) sum[i] += (*before)[i];
  return sum;
}

const RegisterBug registered{{
    .name = "activation-gradient-not-reset",
    .stages = {"backward"},
    .sentence = "activation gradients are added to those of the previous micro-batch, not written over them",
    .formula = "dx_k = dx_{k-1} + dy W",
    .remedy = "overwrite the activation gradients in every micro-batch, or clear them first",
    .left = left,
}};

}  // namespace activation_gradient_added

// The column sum of a bias gradient is kept in fp16.
namespace fp16_bias_sum {

/// dy of the layer whose bias gradient this is, row-major; nullopt for any other tensor.
std::optional<Values> rows_of_dy(const Evidence& evidence, const HeldTensor& held) {
  const std::string bias = parameter_in(evidence, held, "d.");
  if (!bias.ends_with(".bias")) return std::nullopt;
  const std::string label = bias.substr(0, bias.size() - 5);
  return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto dy = rows_of_dy(evidence, held);
  if (!dy) return std::nullopt;
  Values sum(held.expected.size(), 0.0);
  for (std::size_t i = 0; i < dy->size(); ++i) {
    double& column = sum[i % sum.size()];
    column = rounded_to(Dtype::fp16, rounded_to(Dtype::fp32, column + (*dy)[i]));
  }
  return sum;
}

const RegisterBug registered{{
    .name = "half-accumulator",
    .stages = {"backward"},
    .sentence = "the bias gradient is summed in fp16",
    .formula = "db = Σ rounded to fp16 after every row",
    .remedy = "sum the bias gradient in fp32",
    .left = left,
}};

}  // namespace fp16_bias_sum

// The second half of the rows never reaches the weight gradient.
namespace half_of_the_rows {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return weight_gradient(
      evidence, held, [](std::size_t rows) { return (rows + 1) / 2; }, [](double value) { return value; });
}

const RegisterBug registered{{
    .name = "second-product-lost",
    .stages = {"backward"},
    .sentence =
        "the second of two products into one accumulator is lost: half of the rows never reach the weight gradient",
    .formula = "dW = Σ dyᵀ x over the first half of the rows",
    .remedy = "let the second product add to the accumulator (beta 1): it is lost now",
    .left = left,
}};

}  // namespace half_of_the_rows

// The column sum misses the last row.
namespace last_row_dropped {

/// dy of the layer whose bias gradient this is, row-major; nullopt for any other tensor.
std::optional<Values> rows_of_dy(const Evidence& evidence, const HeldTensor& held) {
  const std::string bias = parameter_in(evidence, held, "d.");
  if (!bias.ends_with(".bias")) return std::nullopt;
  const std::string label = bias.substr(0, bias.size() - 5);
  return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto dy = rows_of_dy(evidence, held);
  if (!dy) return std::nullopt;
  Values sum = held.expected;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] -= (*dy)[dy->size() - sum.size() + i];
  return sum;
}

const RegisterBug registered{{
    .name = "tail-row-dropped",
    .stages = {"backward"},
    .sentence = "the bias gradient misses the last row of every micro-batch",
    .formula = "db = Σ over all rows but the last",
    .remedy = "add all rows: the last one of every micro-batch is left out",
    .left = left,
}};

}  // namespace last_row_dropped

// The weights of linear layers get no gradient.
namespace no_weight_gradient {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "d.", "linear", ".weight")) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterBug registered{{
    .name = "no-weight-gradient",
    .stages = {"backward"},
    .sentence = "the weights of linear layers get no gradient, as when a cached copy of them was made without autograd",
    .formula = "dW = 0",
    .remedy = "make the cached copy of the weights with gradients enabled, or clear the cache when they are enabled "
              "(autocast keeps its cache through `torch.no_grad()`)",
    .left = left,
}};

}  // namespace no_weight_gradient

// One row's addend to one element is lost.
namespace one_addend_lost {

/// dy of the layer whose bias gradient this is, row-major; nullopt for any other tensor.
std::optional<Values> rows_of_dy(const Evidence& evidence, const HeldTensor& held) {
  const std::string bias = parameter_in(evidence, held, "d.");
  if (!bias.ends_with(".bias")) return std::nullopt;
  const std::string label = bias.substr(0, bias.size() - 5);
  return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
}

/// The element that is furthest off, and the row whose addend explains it best.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto dy = rows_of_dy(evidence, held);
  if (!dy) return std::nullopt;
  const auto error = [&](std::size_t i) { return held.expected[i] - held.got[i]; };
  const std::size_t columns = held.expected.size();
  std::size_t at = 0, row = 0;
  for (std::size_t i = 1; i < columns; ++i) at = std::fabs(error(i)) > std::fabs(error(at)) ? i : at;
  const auto rest = [&](std::size_t r) { return std::fabs((*dy)[r * columns + at] - error(at)); };
  for (std::size_t r = 1; r < dy->size() / columns; ++r) row = rest(r) < rest(row) ? r : row;
  if (!(rest(row) < std::fabs(error(at)))) return std::nullopt;
  Values sum = held.expected;
  sum[at] -= (*dy)[row * columns + at];
  return sum;
}

const RegisterBug registered{{
    .name = "one-addend-lost",
    .stages = {"backward"},
    .sentence = "one addend of one element is lost, as when two blocks add without an atomic",
    .formula = "db_j = Σ dy_ij less one row",
    .remedy = "add with atomics, or to a partial sum per block",
    .left = left,
    .parameters = 2,
}};

}  // namespace one_addend_lost

// The column sum runs from the last row to the first.
namespace rows_added_backwards {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".bias");
  if (!layer) return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto dy = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
  if (!dy) return std::nullopt;
  Values sum(held.expected.size(), 0.0);
  for (std::size_t i = dy->size(); i-- > 0;) {
    double& column = sum[i % sum.size()];
    column = rounded_to(Dtype::fp32, column + (*dy)[i]);
  }
  return sum;
}

const RegisterBug registered{{
    .name = "bias-gradient-reversed",
    .stages = {"backward"},
    .sentence = "the bias gradient adds its rows from the last to the first: as accurate, but not the order claimed",
    .formula = "db = ((dy_n + dy_{n-1}) + ...) + dy_1",
    .remedy = "add the rows in the order that the kernel claims, or claim this order",
    .left = left,
}};

}  // namespace rows_added_backwards

// Every layer divides the gradient it passes on.
namespace stage_over_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "d.", "linear", ".x")) return std::nullopt;
  return times(held.expected, 1.0 / evidence.micro_batches(held.name.window));
}

const RegisterBug registered{{
    .name = "repeated-stage-scaling",
    .stages = {"backward"},
    .sentence = "every linear layer divides the gradient of its input by K again",
    .formula = "dx = dy W / K",
    .remedy = "divide by K once, at the loss",
    .left = left,
}};

}  // namespace stage_over_k
}  // namespace
}  // namespace tally::backward_bug

// Operands below the normal range are read as zero.
namespace tally::subnormals_read_as_zero_bug {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const double least = format_row(evidence.c.precision.storage).smallest_normal();
  return weight_gradient(
      evidence, held, [](std::size_t rows) { return rows; },
      [least](double value) { return std::fabs(value) < least ? 0 : value; });
}

const RegisterBug registered{{
    .name = "subnormals-flushed",
    .stages = {"backward"},
    .sentence = "subnormal operands of products are read as zero",
    .formula = "dW = Σ flush(dy)ᵀ flush(x)",
    .remedy = "keep small gradients in range with a loss scale, or claim that products flush subnormals",
    .left = left,
}};

}  // namespace
}  // namespace tally::subnormals_read_as_zero_bug
