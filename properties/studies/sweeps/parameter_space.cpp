#include "properties/studies/sweeps/parameter_space.hpp"

#include <cmath>
#include <stdexcept>

namespace tally {

Point point_of(const oracle::Tensors<long double>& tensors) {
  Point p;
  for (const auto& [name, tensor] : tensors) p.insert(p.end(), tensor.data(), tensor.data() + tensor.size());
  return p;
}

Point parameters_of(const ExactState& state) {
  Point p;
  for (const auto& [name, slot] : state.slots) {
    p.insert(p.end(), slot.parameter.data(), slot.parameter.data() + slot.parameter.size());
  }
  return p;
}

long double norm(const Point& p) {
  long double sum = 0;
  for (const long double each : p) sum += each * each;
  return std::sqrt(sum);
}

Point difference(const Point& a, const Point& b) {
  Point result = a;
  add_to(result, -1, b);
  return result;
}

void add_to(Point& sum, long double weight, const Point& p) {
  if (sum.empty()) sum.assign(p.size(), 0);
  if (sum.size() != p.size()) throw std::logic_error("points of two different models");
  for (std::size_t i = 0; i < p.size(); ++i) sum[i] += weight * p[i];
}

Point trained(const Case& c) {
  auto state = oracle::initial_state<long double>(c);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    state = oracle::evaluate_window(c, w, oracle::Branch::accumulated, state).after;
  }
  return parameters_of(state);
}

Point untrained(const Case& c) { return parameters_of(oracle::initial_state<long double>(c)); }

std::vector<Point> gradients_at_start(const Case& c) {
  const auto start = oracle::initial_state<long double>(c);
  std::vector<Point> gradients;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    gradients.push_back(point_of(oracle::evaluate_window(c, w, oracle::Branch::accumulated, start).grad));
  }
  return gradients;
}

}  // namespace tally
