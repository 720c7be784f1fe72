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

}  // namespace

Expected as_read(const Tensor& tensor) {
  const auto rank = tensor.shape.size();
  const Eigen::Index columns = rank == 0 ? 1 : tensor.shape.back();
  const Eigen::Index rows = columns == 0 ? 1 : static_cast<Eigen::Index>(tensor.elements()) / columns;
  Expected read{Matrix<long double>(rows, columns), Matrix<double>::Zero(rows, columns)};
  if (tensor.dtype == Dtype::fp32) {
    Matrix<float> held(rows, columns);
    if (held.size() > 0) std::memcpy(held.data(), tensor.bytes.data(), tensor.bytes.size());
    read.v = held.cast<long double>();
    return read;
  }
  const bool whole = tensor.dtype == Dtype::i64;
  for (Eigen::Index i = 0; i < rows * columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    read.v.data()[i] = whole ? static_cast<long double>(tensor.integer(at)) : tensor.value(at);
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
