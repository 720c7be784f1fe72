// Known mistakes in sigmoid, tanh and their derivatives.
#include <cmath>

#include "properties/diagnosis/suspects/activation_otherwise.hpp"

namespace tally::sigmoid_otherwise_suspect {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const RegisterActivationOtherwise registered(
    {{"sigmoid", "forward", "the sign of x is lost", "y = 1 / (1 + exp(x))",
      [](const ActivationElement& a) { return sigmoid(-a.x); }},
     {"sigmoid", "backward", "the factor 1 - y is left out", "dx = dy y",
      [](const ActivationElement& a) { return a.dy * sigmoid(a.x); }},
     {"sigmoid", "backward", "the factor y is left out", "dx = dy (1 - y)",
      [](const ActivationElement& a) { return a.dy * (1 - sigmoid(a.x)); }},
     {"sigmoid", "backward", "x stands for y", "dx = dy x (1 - x)",
      [](const ActivationElement& a) { return a.dy * a.x * (1 - a.x); }},
     {"sigmoid", "backward", "the derivative is left out", "dx = dy", [](const ActivationElement& a) { return a.dy; }},
     {"sigmoid", "backward", "the square of y is taken", "dx = dy (1 - y²)",
      [](const ActivationElement& a) { return a.dy * (1 - sigmoid(a.x) * sigmoid(a.x)); }},
     {"tanh", "backward", "y is not squared", "dx = dy (1 - y)",
      [](const ActivationElement& a) { return a.dy * (1 - std::tanh(a.x)); }},
     {"tanh", "backward", "1 + y² stands for 1 - y²", "dx = dy (1 + y²)",
      [](const ActivationElement& a) { return a.dy * (1 + std::tanh(a.x) * std::tanh(a.x)); }},
     {"tanh", "backward", "x stands for y", "dx = dy (1 - x²)",
      [](const ActivationElement& a) { return a.dy * (1 - a.x * a.x); }},
     {"tanh", "backward", "the derivative is left out", "dx = dy", [](const ActivationElement& a) { return a.dy; }}});

}  // namespace
}  // namespace tally::sigmoid_otherwise_suspect
