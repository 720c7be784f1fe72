// Bugs of forward.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"

namespace tally::forward_bug {
namespace {

// The statistics are those of the first rows alone.
namespace first_rows_only {

/// Every row of the window that this layer read, one after another.
Values rows_read(const Evidence& evidence, int window, const std::string& label) {
  Values all;
  for (int k = 0; k < evidence.micro_batches(window); ++k) {
    const auto x = evidence.tap(window, k, "forward", "in." + label + ".x").value_or(Values{});
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

/// The mean over the first rows, for the number of rows that is nearest to the result.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".mean");
  if (!layer || held.name.micro_batch >= 0) return std::nullopt;
  const Values x = rows_read(evidence, held.name.window, label_of(evidence.c.model, *layer));
  const std::size_t features = held.got.size();
  Values sum(features, 0.0), nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; (row + 2) * features <= x.size(); ++row) {
    Values mean(features);
    double off = 0;
    for (std::size_t i = 0; i < features; ++i) {
      sum[i] += x[row * features + i];
      mean[i] = sum[i] / static_cast<double>(row + 1);
      off += (mean[i] - held.got[i]) * (mean[i] - held.got[i]);
    }
    if (off < least) least = off, nearest = mean;
  }
  if (nearest.empty()) return std::nullopt;
  return nearest;
}

const RegisterBug registered{{
    .name = "bn-first-microbatch-statistics",
    .stages = {"forward"},
    .sentence = "the window's statistics cover only its first rows, such as its first micro-batch",
    .formula = "μ = Σ x / r over the first r rows",
    .remedy = "take the mean and variance over all rows of the window, not of its first micro-batch",
    .left = left,
    .parameters = 1,
}};

}  // namespace first_rows_only

// Products of matrices accumulate in fp16.
namespace fp16_products {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return linear_product(evidence, held, [](double sum, double x, double w) {
    return rounded_to(Dtype::fp16, rounded_to(Dtype::fp32, sum + x * w));
  });
}

const RegisterBug registered{{
    .name = "half-gemm-accumulator",
    .stages = {"forward"},
    .sentence = "products of matrices accumulate in fp16",
    .formula = "y = Σ x w, rounded to fp16 after every term",
    .remedy = "accumulate products of matrices in fp32: "
              "`torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False`",
    .left = left,
}};

}  // namespace fp16_products

// A frozen norm normalises by the batch.
namespace frozen_uses_batch {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".y");
  if (!layer || evidence.c.model.layers[*layer].text("statistics") != "frozen") return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + label + tensor);
  };
  const auto x = read(".x"), weight = read(".weight"), bias = read(".bias");
  if (!x) return std::nullopt;
  const auto features = static_cast<std::size_t>(features_before(evidence.c.model, *layer));
  const auto rows = static_cast<double>(x->size() / features);
  Values mean(features, 0.0), variance(features, 0.0), y = *x;
  for (std::size_t i = 0; i < y.size(); ++i) mean[i % features] += (*x)[i] / rows;
  for (std::size_t i = 0; i < y.size(); ++i) variance[i % features] += std::pow((*x)[i] - mean[i % features], 2) / rows;
  const double epsilon = evidence.c.model.layers[*layer].number("eps").to_double();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t f = i % features;
    y[i] = ((*x)[i] - mean[f]) / std::sqrt(variance[f] + epsilon);
    if (weight && bias) y[i] = y[i] * (*weight)[f] + (*bias)[f];
  }
  return y;
}

const RegisterBug registered{{
    .name = "frozen-bn-uses-batch",
    .stages = {"forward"},
    .sentence = "a frozen norm layer normalises by the batch's statistics, not by its running ones",
    .formula = "y = γ (x - μ_k) / √(v_k + ε) + β",
    .remedy = "call `.eval()` on the frozen norm layers after every `model.train()`",
    .left = left,
}};

}  // namespace frozen_uses_batch

// The window's mean is the mean of its micro-batches' means.
namespace mean_of_batch_means {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".mean");
  if (!layer || held.name.micro_batch >= 0) return std::nullopt;
  const int window = held.name.window, count = evidence.micro_batches(window);
  const std::size_t features = held.got.size();
  Values mean(features, 0.0);
  for (int k = 0; k < count; ++k) {
    const auto x = evidence.tap(window, k, "forward", "in." + label_of(evidence.c.model, *layer) + ".x");
    if (!x) return std::nullopt;
    const double weight = static_cast<double>(features) / (static_cast<double>(x->size()) * count);
    for (std::size_t i = 0; i < x->size(); ++i) mean[i % features] += weight * (*x)[i];
  }
  return mean;
}

const RegisterBug registered{{
    .name = "syncbn-equal-weights",
    .stages = {"forward"},
    .sentence = "the window's mean is the unweighted mean of its micro-batches' means",
    .formula = "μ = Σ μ_k / K",
    .remedy = "weight the micro-batches' means by their rows",
    .left = left,
}};

}  // namespace mean_of_batch_means

// Dropout uses another mask than the one drawn for the row.
namespace other_mask {

/// Every element is either dropped or kept: whichever is nearer.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    if (c.model.layers[i].kind != kinds::dropout || held.name.tensor != label + ".y") continue;
    const double kept = 1 / (1 - c.model.layers[i].number("p").to_double());
    auto x = evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + label + ".x");
    if (!x) return std::nullopt;
    for (std::size_t e = 0; e < x->size(); ++e) {
      const double whole = kept * (*x)[e];
      (*x)[e] = std::fabs(held.got[e] - whole) < std::fabs(held.got[e]) ? whole : 0;
    }
    return x;
  }
  return std::nullopt;
}

const RegisterBug registered{{
    .name = "dropout-mask-redrawn",
    .stages = {"forward"},
    .sentence = "dropout uses another mask than the one drawn for the row",
    .formula = "y = x / (1 - p) or 0, by another mask",
    .remedy = "use the mask that was drawn for the row: seed it by row, or keep it",
    .left = left,
    .parameters = 1,
}};

}  // namespace other_mask

// A product was never computed. Fresh memory reads as NaN here.
namespace product_never_launched {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!layer_at(evidence, held, "", "linear", ".y")) return std::nullopt;
  if (std::any_of(held.got.begin(), held.got.end(), [](double y) { return std::isfinite(y); })) return std::nullopt;
  return Values(held.expected.size(), std::numeric_limits<double>::quiet_NaN());
}

const RegisterBug registered{{
    .name = "zero-blocks-launched",
    .stages = {"forward"},
    .sentence = "a product is never computed, as when none of its blocks is launched: uninitialised memory is read",
    .formula = "y = fresh memory",
    .remedy = "launch at least one block when the number of blocks is rounded to 0",
    .left = left,
    .parameters = 1,
}};

}  // namespace product_never_launched

// Rows of a product from some row on were never written. Fresh memory reads as NaN here.
namespace rows_never_written {

/// From the first row on that holds what is not finite, other than the first of all.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "linear", ".y");
  if (!layer) return std::nullopt;
  const auto features = static_cast<std::size_t>(features_after(evidence.c.model, *layer));
  const auto wrong = std::find_if(held.got.begin(), held.got.end(), [](double y) { return !std::isfinite(y); });
  const std::size_t row = static_cast<std::size_t>(wrong - held.got.begin()) / features;
  if (row == 0 || wrong == held.got.end()) return std::nullopt;
  Values y = held.expected;
  std::fill(y.begin() + static_cast<std::ptrdiff_t>(row * features), y.end(), std::numeric_limits<double>::quiet_NaN());
  return y;
}

const RegisterBug registered{{
    .name = "rows-never-written",
    .stages = {"forward"},
    .sentence = "the last rows are never computed, as when they exceed the grid's limit",
    .formula = "y_i = fresh memory for i >= blocks",
    .remedy = "launch enough blocks for all rows, or let each block take several in turn",
    .left = left,
    .parameters = 1,
}};

}  // namespace rows_never_written

// The operands of fp32 products are cut to ten bits behind the point.
namespace tf32_products {

/// fp32 with its last 13 bits cut off.
double cut(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>(bits & 0xffffe000u);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  return linear_product(evidence, held, [](double sum, double x, double w) { return sum + cut(x) * cut(w); });
}

const RegisterBug registered{{
    .name = "tf32-silently-on",
    .stages = {"forward"},
    .sentence = "the operands of fp32 products are read as TF32, with 10 mantissa bits",
    .formula = "y = Σ tf32(x) tf32(w)",
    .remedy = "set `torch.backends.cuda.matmul.allow_tf32 = False`, or state the precision as TF32",
    .left = left,
}};

}  // namespace tf32_products

}  // namespace
}  // namespace tally::forward_bug
