// Every sum of a shipped kernel as tests/kernels/reduction/measured_additions.hpp measures it: addends in, a number out
// that moves with the sum. Where a mean is taken, 1/n is given as 1 or as a power of two so small that the mean
// vanishes.
#pragma once

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "kernels/norm/batch_norm_of_ranks.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/registered_files.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/reduction/attention_sums.hpp"
#include "tests/kernels/reduction/loss_sums.hpp"
#include "tests/kernels/reduction/measured_additions.hpp"

namespace tally {

/// `of(variant, addends)` runs the operation's kernel on the host executor.
struct KernelSum {
  std::string operation, sum;
  double (*of)(const std::string& variant, const Addends& addends);
  std::size_t least = 1;  // addends from which on the sum can be read out

  friend void PrintTo(const KernelSum& s, std::ostream* out) { *out << s.operation << ", " << s.sum; }
};

inline double bias_gradient(const std::string& variant, const Addends& addends) {
  const std::int64_t rows = count(addends);
  const DeviceTensor dy = on_device(plain(addends)), db = room(1), partial = room(bias_gradient_chunks(rows));
  call("linear.bias_gradient", BiasGradientArguments{Dtype::fp32, dy.data(), db.data(), rows, 1, partial.as<float>()},
       variant);
  return values_of(db)[0];
}

/// Both sums of a norm's parameter gradients down one column; h = 1 makes their addends the same.
inline std::vector<double> parameter_gradients(const char* operation, const std::string& variant,
                                               const Addends& addends) {
  const std::vector<double> ones = ones_of(addends);
  const DeviceTensor x = on_device(ones), dy = on_device(plain(addends)), rstd = on_device(ones),
                     mean = on_device(std::vector<double>(addends.size(), 0)), dw = room(1), db = room(1);
  call(operation,
       NormGradientArguments{.storage = Dtype::fp32,
                             .x = x.data(),
                             .dy = dy.data(),
                             .mean = mean.as<float>(),
                             .rstd = rstd.as<float>(),
                             .dw = dw.data(),
                             .db = db.data(),
                             .dw_sum = nullptr,
                             .db_sum = nullptr,
                             .rows = count(addends),
                             .features = 1},
       variant);
  return {values_of(dw)[0], values_of(db)[0]};
}

template <int which>
double batch_norm_gradient(const std::string& variant, const Addends& addends) {
  return parameter_gradients("batch_norm.parameter_gradients", variant, addends)[which];
}
template <int which>
double layer_norm_gradient(const std::string& variant, const Addends& addends) {
  return parameter_gradients("layer_norm.parameter_gradients", variant, addends)[which];
}
inline double rms_norm_gradient(const std::string& variant, const Addends& addends) {
  return parameter_gradients("rms_norm.weight_gradient", variant, addends)[0];
}

constexpr float vanishing = 0x1p-60f;

/// Mean and variance of one column.
inline std::vector<double> column_moments(const std::string& variant, const std::vector<double>& values,
                                          float inverse_rows) {
  const DeviceTensor x = on_device(values), mean = room(1), var = room(1), rstd = room(1);
  call("batch_norm.statistics",
       BatchNormStatisticsArguments{.storage = Dtype::fp32,
                                    .x = x.data(),
                                    .running_mean = nullptr,
                                    .running_var = nullptr,
                                    .mean = mean.as<float>(),
                                    .var = var.as<float>(),
                                    .rstd = rstd.as<float>(),
                                    .rows = static_cast<std::int64_t>(values.size()),
                                    .features = 1,
                                    .inverse_rows = inverse_rows,
                                    .eps = 1},
       variant);
  return {values_of(mean)[0], values_of(var)[0]};
}

inline double column_mean(const std::string& variant, const Addends& addends) {
  return column_moments(variant, plain(addends), 1)[0];
}
inline double column_squares(const std::string& variant, const Addends& addends) {
  return column_moments(variant, squared(addends), vanishing)[1];
}

/// Sum and sum of squares of one column, for statistics that ranks share.
inline std::vector<double> step_sums(const std::string& variant, const std::vector<double>& values) {
  const DeviceTensor x = on_device(values), sum = room(1), squares = room(1);
  call("batch_norm.step_sums",
       StepSumsArguments{.storage = Dtype::fp32,
                         .x = x.data(),
                         .mean = nullptr,
                         .sum = sum.as<float>(),
                         .squares = squares.as<float>(),
                         .rows = static_cast<std::int64_t>(values.size()),
                         .features = 1},
       variant);
  return {values_of(sum)[0], values_of(squares)[0]};
}

inline double step_sum(const std::string& variant, const Addends& addends) {
  return step_sums(variant, plain(addends))[0];
}
inline double step_squares(const std::string& variant, const Addends& addends) {
  return step_sums(variant, squared(addends))[1];
}

/// Mean and rstd of one row.
inline std::vector<double> row_moments(const std::string& variant, const std::vector<double>& values,
                                       float inverse_features, const char* operation = "layer_norm.forward") {
  const DeviceTensor x = on_device(values), mean = room(1), rstd = room(1),
                     y = room(static_cast<std::int64_t>(values.size()));
  call(operation,
       NormForwardArguments{.storage = Dtype::fp32,
                            .x = x.data(),
                            .weight = nullptr,
                            .bias = nullptr,
                            .mean = mean.as<float>(),
                            .rstd = rstd.as<float>(),
                            .y = y.data(),
                            .rows = 1,
                            .features = static_cast<std::int64_t>(values.size()),
                            .inverse_features = inverse_features,
                            .eps = 0},
       variant);
  return {values_of(mean)[0], values_of(rstd)[0]};
}

/// A number whose square, rounded to fp32, has another root than the float above it, by `root`; and one whose square
/// lies between a quarter and half of the square's last place.
struct SquaredAddends {
  double large, small;
};

template <class Root>
SquaredAddends told_apart_by(Root&& root) {
  for (float a = 0x1.6p12f;; a = std::nextafter(a, std::numeric_limits<float>::infinity())) {
    const float square = a * a, next = std::nextafter(square, std::numeric_limits<float>::infinity());
    if (root(square) != root(next)) return {a, std::sqrt(0.375 * static_cast<double>(next - square))};
  }
}

inline double row_mean(const std::string& variant, const Addends& addends) {
  return row_moments(variant, plain(addends), 1)[0];
}
inline double squares_by(const char* operation, const std::string& variant, const Addends& addends) {
  static const SquaredAddends chosen = told_apart_by([](float s) { return 1 / std::sqrt(s * vanishing); });
  return row_moments(variant, as(addends, chosen.large, chosen.small), vanishing, operation)[1];
}
inline double row_squares(const std::string& variant, const Addends& addends) {
  return squares_by("layer_norm.forward", variant, addends);
}
inline double rms_squares(const std::string& variant, const Addends& addends) {
  return squares_by("rms_norm.forward", variant, addends);
}

/// dx of one row at its large addend.
inline double row_dx(const std::string& variant, const std::vector<double>& h, const std::vector<double>& g,
                     std::size_t at, const char* operation = "layer_norm.backward") {
  const DeviceTensor x = on_device(h), dy = on_device(g), mean = on_device({0}), rstd = on_device({1}),
                     dx = room(static_cast<std::int64_t>(h.size()));
  call(operation,
       NormBackwardArguments{.storage = Dtype::fp32,
                             .x = x.data(),
                             .dy = dy.data(),
                             .weight = nullptr,
                             .mean = mean.as<float>(),
                             .rstd = rstd.as<float>(),
                             .dw_sum = nullptr,
                             .db_sum = nullptr,
                             .dx = dx.data(),
                             .rows = 1,
                             .features = static_cast<std::int64_t>(h.size()),
                             .inverse_count = 1},
       variant);
  return values_of(dx)[at];
}

/// (g - sum g) where h = 0.
inline double row_gradients(const std::string& variant, const Addends& addends) {
  return row_dx(variant, std::vector<double>(addends.size(), 0), plain(addends), large_one(addends));
}
/// (1 - n) - h sum g h where g = 1: n vanishes beside 2^48.
inline double row_products(const std::string& variant, const Addends& addends) {
  return row_dx(variant, plain(addends), ones_of(addends), large_one(addends));
}

/// 1 - h sum g h where g = 1.
inline double rms_products(const std::string& variant, const Addends& addends) {
  return row_dx(variant, plain(addends), ones_of(addends), large_one(addends), "rms_norm.backward");
}

/// The norm over tensors of these sizes, whose elements are the values one after another.
inline double norm_over(const char* operation, const std::string& variant, NormKind kind,
                        const std::vector<std::size_t>& sizes, const std::vector<double>& values) {
  const DeviceTensor all = on_device(values), out = room(static_cast<std::int64_t>(values.size())), norm = room(1);
  std::vector<NormSource> sources;
  std::vector<SummedTensor> summed;
  std::size_t first = 0;
  for (const std::size_t size : sizes) {
    sources.push_back({all.as<float>() + first, static_cast<std::int64_t>(size)});
    summed.push_back({all.as<float>() + first, out.as<float>() + first, static_cast<std::int64_t>(size)});
    first += size;
  }
  const DeviceTensor partial = room(norm_chunks(sources));
  if (std::string(operation) == "norm") {
    call(operation, NormArguments{kind, sources, partial.as<float>(), norm.as<float>()}, variant);
  } else {
    call(operation,
         UnscaleCheckNormArguments{summed, Dtype::fp32, nullptr, nullptr, kind, partial.as<float>(), norm.as<float>()},
         variant);
  }
  return values_of(norm)[0];
}

inline std::vector<double> told_apart_by_a_norm(const Addends& addends) {
  static const SquaredAddends chosen = told_apart_by([](float s) { return std::sqrt(s); });
  return as(addends, chosen.large, chosen.small);
}

inline double norm_of_magnitudes(const std::string& variant, const Addends& addends) {
  return norm_over("norm", variant, NormKind::one, {addends.size()}, plain(addends));
}
inline double norm_of_squares(const std::string& variant, const Addends& addends) {
  return norm_over("norm", variant, NormKind::two, {addends.size()}, told_apart_by_a_norm(addends));
}
inline double fused_norm_of_squares(const std::string& variant, const Addends& addends) {
  return norm_over("unscale_check_norm", variant, NormKind::two, {addends.size()}, told_apart_by_a_norm(addends));
}

inline std::vector<KernelSum> sums_by_operation() {
  return {{"linear.bias_gradient", "rows", bias_gradient},
          {"batch_norm.parameter_gradients", "products", batch_norm_gradient<0>},
          {"batch_norm.parameter_gradients", "rows", batch_norm_gradient<1>},
          {"layer_norm.parameter_gradients", "products", layer_norm_gradient<0>},
          {"layer_norm.parameter_gradients", "rows", layer_norm_gradient<1>},
          {"layer_norm.backward", "gradients", row_gradients},
          {"layer_norm.backward", "products", row_products},
          {"batch_norm.statistics", "mean", column_mean},
          {"batch_norm.statistics", "squares", column_squares},
          {"batch_norm.step_sums", "rows", step_sum},
          {"batch_norm.step_sums", "squares", step_squares},
          {"layer_norm.forward", "mean", row_mean},
          {"layer_norm.forward", "squares", row_squares},
          {"rms_norm.forward", "squares", rms_squares},
          {"rms_norm.backward", "products", rms_products},
          {"rms_norm.weight_gradient", "products", rms_norm_gradient},
          {"attention.forward", "values", weighted_values},
          {"mse", "squares", squared_errors},
          {"cross_entropy", "exponentials", exponentials, 2},
          {"cross_entropy", "class shares", class_shares},
          {"cross_entropy", "class losses", class_losses, 2},
          {"norm", "magnitudes", norm_of_magnitudes},
          {"norm", "squares", norm_of_squares},
          {"unscale_check_norm", "squares", fused_norm_of_squares}};
}

/// Those that are registered beside their kernel's other tests.
inline std::vector<KernelSum>& registered_sums() {
  static std::vector<KernelSum> all;
  return all;
}
inline void enter_record(KernelSum sum, std::source_location) { registered_sums().push_back(std::move(sum)); }

inline std::vector<KernelSum> kernel_sums() {
  std::vector<KernelSum> all = sums_by_operation();
  all.insert(all.end(), registered_sums().begin(), registered_sums().end());
  return all;
}

}  // namespace tally
