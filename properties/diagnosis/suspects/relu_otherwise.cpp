// Known mistakes in ReLU and its derivative.
#include <cmath>

#include "properties/diagnosis/suspects/activation_otherwise.hpp"

namespace tally::relu_otherwise_suspect {
namespace {

const RegisterActivationOtherwise registered(
    {{"relu", "forward", "nothing is cut off", "y = x", [](const ActivationElement& a) { return a.x; }},
     {"relu", "forward", "the size is taken", "y = |x|", [](const ActivationElement& a) { return std::fabs(a.x); }},
     {"relu", "forward", "it leaks", "y = max(x, 0.01 x)",
      [](const ActivationElement& a) { return a.x > 0 ? a.x : 0.01 * a.x; }},
     {"relu", "forward", "it stops at 6", "y = min(max(x, 0), 6)",
      [](const ActivationElement& a) { return std::fmin(std::fmax(a.x, 0), 6); }},
     {"relu", "backward", "the gradient passes everywhere", "dx = dy", [](const ActivationElement& a) { return a.dy; }},
     {"relu", "backward", "the gradient passes at zero too", "dx = dy where x >= 0",
      [](const ActivationElement& a) { return a.x >= 0 ? a.dy : 0; }},
     {"relu", "backward", "the gradient passes where the activation is cut off", "dx = dy where x < 0",
      [](const ActivationElement& a) { return a.x < 0 ? a.dy : 0; }},
     {"relu", "backward", "the gradient leaks", "dx = 0.01 dy where x < 0",
      [](const ActivationElement& a) { return a.x > 0 ? a.dy : 0.01 * a.dy; }},
     {"relu", "backward", "the gradient's own sign decides", "dx = dy where dy > 0",
      [](const ActivationElement& a) { return a.dy > 0 ? a.dy : 0; }},
     {"relu", "backward", "x enters the gradient", "dx = dy max(x, 0)",
      [](const ActivationElement& a) { return a.dy * std::fmax(a.x, 0); }}});

}  // namespace
}  // namespace tally::relu_otherwise_suspect
