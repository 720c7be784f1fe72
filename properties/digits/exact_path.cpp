#include "properties/digits/exact_path.hpp"

#include "oracle/real/real.hpp"

namespace tally {
namespace {

using oracle::Real;

constexpr unsigned digits_113_bits = 34, digits_certifying = 100;
constexpr std::size_t sample_every = 14;

std::map<std::string, oracle::Matrix<double>> rounded(const oracle::State<Real>& state) {
  std::map<std::string, oracle::Matrix<double>> all;
  for (const auto& [parameter, slot] : state.slots) {
    oracle::Matrix<double> values(1, slot.parameter.size());
    for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = slot.parameter.data()[i].convert_to<double>();
    all.emplace(parameter, std::move(values));
  }
  return all;
}

/// Every parameter agrees to 25 of the 34 digits: |a - b| <= 10^-25 of the largest of its tensor.
bool agree(const oracle::State<Real>& a, const oracle::State<Real>& b) {
  for (const auto& [parameter, slot] : a.slots) {
    const auto& other = b.slots.at(parameter).parameter;
    Real largest = 0;
    for (Eigen::Index i = 0; i < other.size(); ++i) largest = std::max<Real>(largest, abs(other.data()[i]));
    const Real limit = largest * Real("1e-25");
    for (Eigen::Index i = 0; i < other.size(); ++i) {
      const Real difference = abs(slot.parameter.data()[i] - other.data()[i]);
      if (!(difference <= limit)) return false;
    }
  }
  return true;
}

}  // namespace

ExactPath exact_path(const Case& c, oracle::Branch branch) {
  ExactPath path;
  oracle::set_digits(digits_113_bits);
  auto state = oracle::initial_state<Real>(c);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    auto next = oracle::evaluate_window<Real>(c, w, branch, state).after;
    if (w % sample_every == 0) {
      oracle::set_digits(digits_certifying);
      const auto again = oracle::evaluate_window<Real>(c, w, branch, state).after;
      path.agrees_at_100_digits = path.agrees_at_100_digits && agree(next, again);
      ++path.certified_windows;
      oracle::set_digits(digits_113_bits);
    }
    state = std::move(next);
    path.parameters.push_back(rounded(state));
  }
  return path;
}

}  // namespace tally
