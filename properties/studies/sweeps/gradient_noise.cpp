#include "properties/studies/sweeps/gradient_noise.hpp"

#include <stdexcept>

namespace tally {

long double squared_norm(const Point& p) {
  long double sum = 0;
  for (const long double each : p) sum += each * each;
  return sum;
}

Point mean_of(const std::vector<Point>& points) {
  Point sum;
  for (const Point& each : points) add_to(sum, 1, each);
  for (long double& each : sum) each /= static_cast<long double>(points.size());
  return sum;
}

GradientNoise exact_noise(const std::vector<Point>& row_gradients) {
  const Point mean = mean_of(row_gradients);
  GradientNoise noise{0, squared_norm(mean)};
  for (const Point& each : row_gradients) noise.trace += squared_norm(difference(each, mean));
  noise.trace /= static_cast<long double>(row_gradients.size());
  return noise;
}

GradientNoise estimated_noise(const std::vector<Point>& micro_batch_gradients, std::int64_t rows) {
  if (micro_batch_gradients.size() < 2) throw std::invalid_argument("an estimate needs two micro-batches");
  const auto count = static_cast<long double>(micro_batch_gradients.size()), b = static_cast<long double>(rows);
  long double small = 0;
  for (const Point& each : micro_batch_gradients) small += squared_norm(each) / count;
  const long double big = squared_norm(mean_of(micro_batch_gradients)), n = count * b;
  return {(small - big) / (1 / b - 1 / n), (n * big - b * small) / (n - b)};
}

}  // namespace tally
