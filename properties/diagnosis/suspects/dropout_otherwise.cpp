// Known mistakes in dropout, in both directions: what goes through is x, or dy.
#include <cmath>

#include "properties/diagnosis/suspects/activation_otherwise.hpp"

namespace tally::dropout_otherwise_suspect {
namespace {

const RegisterActivationOtherwise registered(
    {{"dropout", "", "what is kept is not scaled up", "kept: v",
      [](const ActivationElement& a) { return a.kept ? a.x : 0; }},
     {"dropout", "", "it is scaled by 1 / p", "kept: v / p",
      [](const ActivationElement& a) { return a.kept ? a.x / a.p : 0; }},
     {"dropout", "", "it is scaled down by 1 - p", "kept: v (1 - p)",
      [](const ActivationElement& a) { return a.kept ? a.x * (1 - a.p) : 0; }},
     {"dropout", "", "what is to be dropped is kept, and the reverse", "dropped: v / (1 - p)",
      [](const ActivationElement& a) { return a.kept ? 0 : a.x / (1 - a.p); }},
     {"dropout", "", "nothing is dropped", "v", [](const ActivationElement& a) { return a.x; }},
     {"dropout", "", "nothing is dropped, all is scaled up", "v / (1 - p)",
      [](const ActivationElement& a) { return a.x / (1 - a.p); }}});

}  // namespace
}  // namespace tally::dropout_otherwise_suspect
