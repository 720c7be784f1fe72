// What the oracle expects of a subject: formats as the bounds see them, recipe constants as it holds them, tensors.
#include "oracle/tolerance/expected.hpp"

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/registered_files.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

double Format::unit_roundoff() const { return FormatRow::power_of_two(-p); }

double Format::underflow() const { return FormatRow::power_of_two(flushes_subnormals ? emin : emin - p); }

double Format::overflow_threshold() const { return (2 - FormatRow::power_of_two(-p)) * FormatRow::power_of_two(emax); }

Format format_of(Dtype dtype) {
  const FormatRow& row = format_row(dtype);
  if (!row.is_float()) throw std::invalid_argument(std::string(row.name) + " is no floating-point format");
  return {row.p, row.emin, row.emax};
}

namespace {

long double nearest_float(long double x) { return static_cast<float>(static_cast<double>(x)); }

}  // namespace

Bounded constant(long double exact, long double margin) {
  const auto value = static_cast<double>(exact);
  const long double low = exact - nearest_float(exact - margin), high = nearest_float(exact + margin) - exact;
  return {value, static_cast<double>(std::max(std::fabs(low), std::fabs(high))) * inflation};
}

Bounded constant(long double exact) { return constant(exact, std::fabs(exact) * 0x1p-49L); }

Bounded constant(const Decimal& written) {
  const auto exact = number<long double>(written);
  const long double held = static_cast<float>(written.to_double());
  return {static_cast<double>(exact), static_cast<double>(std::fabs(held - exact)) * inflation};
}

Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32, long double margin) {
  if (declared.claims.constants == "binary64") return constant(exact, margin);
  return {static_cast<double>(exact), in_fp32.e};
}

Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32) {
  return derived_constant(declared, exact, in_fp32, std::fabs(exact) * 0x1p-49L);
}

Bounded reciprocal(const Declared& declared, double n) {
  return derived_constant(declared, 1 / static_cast<long double>(n), single(declared).div({1, 0}, {n, 0}));
}

Complement complement_of_power(const Decimal& beta, long double times) {
  const long double power = std::pow(number<long double>(beta), times);
  return {1 - power, power * std::expm1((times + 4) * 0x1p-53L) / (1 - power) + 0x1p-49L};
}

long double of_inverse(long double relative) { return relative < 1 ? relative / (1 - relative) : infinite; }

Bounded one_minus(const Declared& declared, const Decimal& c) {
  const long double exact = 1 - number<long double>(c);
  const bool held = number<long double>(c) == c.to_double();
  return derived_constant(declared, exact, single(declared).sub({1, 0}, constant(c)),
                          held ? exact * 0x1p-52L : 0x1p-52L);
}

namespace {

/// The tensor's last size; a vector is one row.
Eigen::Index column_count(const Tensor& tensor) { return tensor.shape.empty() ? 1 : tensor.shape.back(); }
template <class T>
Matrix<T> matrix_like(const Tensor& tensor) {
  return Matrix<T>(row_count(tensor), column_count(tensor));
}

}  // namespace

Eigen::Index row_count(const Tensor& tensor) {
  const Eigen::Index columns = column_count(tensor);
  return columns == 0 ? 1 : static_cast<Eigen::Index>(tensor.elements()) / columns;
}

FloatView::FloatView(const Tensor& tensor)
    : converted_(tensor.dtype == Dtype::fp32 ? Matrix<float>() : floats_of(tensor)),
      first_(tensor.dtype == Dtype::fp32 ? reinterpret_cast<const float*>(tensor.bytes.data()) : converted_.data()),
      rows_(row_count(tensor)),
      columns_(column_count(tensor)) {}

Matrix<float> floats_of(const Tensor& tensor) {
  format_of(tensor.dtype);  // throws for integers
  Matrix<float> held = matrix_like<float>(tensor);
  if (tensor.dtype == Dtype::fp32) {
    if (held.size() > 0) std::memcpy(held.data(), tensor.bytes.data(), tensor.bytes.size());
    return held;
  }
  for (Eigen::Index i = 0; i < held.size(); ++i) {
    held.data()[i] = static_cast<float>(tensor.value(static_cast<std::size_t>(i)));
  }
  return held;
}

Expected as_read(const Tensor& tensor) { return as_read(tensor, 0, row_count(tensor)); }

Expected as_read(const Tensor& tensor, Eigen::Index first, Eigen::Index rows) {
  const Eigen::Index columns = column_count(tensor), begin = first * columns;
  Expected read{Matrix<long double>(rows, columns), Matrix<double>::Zero(rows, columns)};
  if (tensor.dtype == Dtype::fp32) {
    for (Eigen::Index i = 0; i < read.v.size(); ++i) {
      float held = 0;
      std::memcpy(&held, tensor.bytes.data() + static_cast<std::size_t>(begin + i) * sizeof held, sizeof held);
      read.v.data()[i] = held;
    }
    return read;
  }
  const bool integers = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  for (Eigen::Index i = 0; i < read.v.size(); ++i) {
    const auto at = static_cast<std::size_t>(begin + i);
    read.v.data()[i] = integers ? static_cast<long double>(tensor.integer(at)) : tensor.value(at);
  }
  return read;
}

Expected only_read(const Tensor& tensor) {
  Expected read;
  read.only_read = &tensor;
  return read;
}

Expected whole(const Expected& x) {
  if (x.only_read == nullptr) return x;
  Expected read = as_read(*x.only_read);
  read.similarity = x.similarity;
  return read;
}

Declared declared(const Precision& precision, const Claims& claims) {
  return {claims,
          format_of(precision.storage),
          format_of(precision.compute),
          format_of(precision.accumulate),
          format_of(precision.master),
          precision.tf32};
}

const BoundRule& bound_rule(std::string_view kind) {
  return RegisterKind<LayerRules>::of("bounds", "layer", kind).bound;
}

const LossBoundRule& loss_bound_rule(std::string_view kind) {
  return RegisterKind<LossBoundRule>::of("bounds", "loss", kind);
}

}  // namespace tally::oracle
