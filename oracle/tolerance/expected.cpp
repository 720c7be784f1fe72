#include "oracle/tolerance/expected.hpp"

#include <cstring>
#include <map>
#include <stdexcept>

#include "oracle/registered_files.hpp"

namespace tally::oracle {
namespace {

template <class Rule>
std::map<std::string, Rule, std::less<>>& rules() {
  static std::map<std::string, Rule, std::less<>> all;
  return all;
}

template <class Rule>
void enter(std::string_view kind, Rule rule, std::source_location at) {
  note_registered(at);
  if (!rules<Rule>().emplace(kind, rule).second) {
    throw std::logic_error("two bound rules for '" + std::string(kind) + "'");
  }
}

template <class Rule>
const Rule& rule_of(std::string_view kind) {
  const auto found = rules<Rule>().find(kind);
  if (found == rules<Rule>().end()) throw std::logic_error("no bound rule for '" + std::string(kind) + "'");
  return found->second;
}

/// Of the tensor's last size in columns; a vector is one row.
template <class T>
Matrix<T> matrix_like(const Tensor& tensor) {
  const Eigen::Index columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  const Eigen::Index rows = columns == 0 ? 1 : static_cast<Eigen::Index>(tensor.elements()) / columns;
  return Matrix<T>(rows, columns);
}

}  // namespace

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

Expected as_read(const Tensor& tensor) {
  Expected read{matrix_like<long double>(tensor), {}};
  read.e.setZero(read.v.rows(), read.v.cols());
  if (tensor.dtype == Dtype::fp32) {
    for (Eigen::Index i = 0; i < read.v.size(); ++i) {
      float held = 0;
      std::memcpy(&held, tensor.bytes.data() + static_cast<std::size_t>(i) * sizeof held, sizeof held);
      read.v.data()[i] = held;
    }
    return read;
  }
  if (tensor.dtype != Dtype::i64 && tensor.dtype != Dtype::u8) {
    read.v = floats_of(tensor).cast<long double>();
    return read;
  }
  for (Eigen::Index i = 0; i < read.v.size(); ++i) {
    read.v.data()[i] = static_cast<long double>(tensor.integer(static_cast<std::size_t>(i)));
  }
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

RegisterBoundRule::RegisterBoundRule(std::string_view kind, BoundRule rule, std::source_location at) {
  enter(kind, rule, at);
}

const BoundRule& bound_rule(std::string_view kind) { return rule_of<BoundRule>(kind); }

RegisterLossBoundRule::RegisterLossBoundRule(std::string_view kind, LossBoundRule rule, std::source_location at) {
  enter(kind, rule, at);
}

const LossBoundRule& loss_bound_rule(std::string_view kind) { return rule_of<LossBoundRule>(kind); }

}  // namespace tally::oracle
