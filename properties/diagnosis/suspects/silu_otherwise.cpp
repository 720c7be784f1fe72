// Known mistakes in SiLU and its derivative.
#include <cmath>

#include "properties/diagnosis/suspects/activation_otherwise.hpp"

namespace tally::silu_otherwise_suspect {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const RegisterActivationOtherwise registered(
    {{"silu", "forward", "x is left out before the logistic function", "y = σ(x)",
      [](const ActivationElement& a) { return logistic(a.x); }},
     {"silu", "forward", "the sign of x is lost", "y = x σ(-x)",
      [](const ActivationElement& a) { return a.x * logistic(-a.x); }},
     {"silu", "forward", "it is GELU's approximation", "y = x σ(1.702 x)",
      [](const ActivationElement& a) { return a.x * logistic(1.702 * a.x); }},
     {"silu", "backward", "the term with the derivative of σ is left out", "dx = dy σ(x)",
      [](const ActivationElement& a) { return a.dy * logistic(a.x); }},
     {"silu", "backward", "the term with σ alone is left out", "dx = dy x σ(x) (1 - σ(x))",
      [](const ActivationElement& a) { return a.dy * a.x * logistic(a.x) * logistic(-a.x); }},
     {"silu", "backward", "the derivative of σ is not multiplied by x", "dx = dy (σ(x) + σ(x) (1 - σ(x)))",
      [](const ActivationElement& a) { return a.dy * (logistic(a.x) + logistic(a.x) * logistic(-a.x)); }},
     {"silu", "backward", "the derivative is left out", "dx = dy", [](const ActivationElement& a) { return a.dy; }}});

}  // namespace
}  // namespace tally::silu_otherwise_suspect
