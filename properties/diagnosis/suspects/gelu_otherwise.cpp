// Known mistakes in GELU, by erf and by tanh, and its derivative.
#include <cmath>

#include "properties/diagnosis/suspects/activation_otherwise.hpp"

namespace tally::gelu_otherwise_suspect {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }
double tanh_argument(double x, double cubic = 0.044715) {
  return std::sqrt(2 / std::acos(-1.0)) * (x + cubic * x * x * x);
}

const RegisterActivationOtherwise registered(
    {{"gelu", "forward", "it is a sigmoid's approximation", "y = x σ(1.702 x)",
      [](const ActivationElement& a) { return a.x * sigmoid(1.702 * a.x); }},
     {"gelu", "forward", "the half is left out", "y = x (1 + erf(x/√2))",
      [](const ActivationElement& a) { return 2 * a.x * normal_cdf(a.x); }},
     {"gelu", "forward", "the argument is not divided by √2", "y = x (1 + erf(x)) / 2",
      [](const ActivationElement& a) { return a.x * std::erfc(-a.x) / 2; }},
     {"gelu", "forward", "the cubic term is left out", "y = x (1 + tanh(√(2/π) x)) / 2",
      [](const ActivationElement& a) { return a.x * (1 + std::tanh(tanh_argument(a.x, 0))) / 2; }},
     {"gelu", "forward", "x is left out before the distribution", "y = Φ(x)",
      [](const ActivationElement& a) { return normal_cdf(a.x); }},
     {"gelu", "backward", "the term with the density is left out", "dx = dy Φ(x)",
      [](const ActivationElement& a) { return a.dy * normal_cdf(a.x); }},
     {"gelu", "backward", "the density is not multiplied by x", "dx = dy (Φ(x) + φ(x))",
      [](const ActivationElement& a) { return a.dy * (normal_cdf(a.x) + normal_density(a.x)); }},
     {"gelu", "backward", "the term with the density has the other sign", "dx = dy (Φ(x) - x φ(x))",
      [](const ActivationElement& a) { return a.dy * (normal_cdf(a.x) - a.x * normal_density(a.x)); }},
     {"gelu", "backward", "the term with tanh's derivative is left out", "dx = dy (1 + tanh u) / 2",
      [](const ActivationElement& a) { return a.dy * (1 + std::tanh(tanh_argument(a.x))) / 2; }},
     {"gelu", "backward", "the cubic term's derivative lacks its factor 3", "u' = √(2/π) (1 + 0.044715 x²)",
      [](const ActivationElement& a) {
        const double t = std::tanh(tanh_argument(a.x));
        const double slope = std::sqrt(2 / std::acos(-1.0)) * (1 + 0.044715 * a.x * a.x);
        return a.dy * ((1 + t) / 2 + a.x * (1 - t * t) * slope / 2);
      }},
     {"gelu", "backward", "tanh's derivative lacks the square", "1 - tanh u for 1 - tanh² u",
      [](const ActivationElement& a) {
        const double t = std::tanh(tanh_argument(a.x));
        const double slope = std::sqrt(2 / std::acos(-1.0)) * (1 + 3 * 0.044715 * a.x * a.x);
        return a.dy * ((1 + t) / 2 + a.x * (1 - t) * slope / 2);
      }}});

}  // namespace
}  // namespace tally::gelu_otherwise_suspect
