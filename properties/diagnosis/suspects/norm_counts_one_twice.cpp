// One parameter is counted twice in the norm.
#include <cmath>
#include <limits>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/norm_of.hpp"

namespace tally {
namespace {

/// The parameter with which all windows' norms are nearest to what came.
std::vector<std::string> counted(const Evidence& evidence) {
  const auto all = parameters_of(evidence.c.model);
  std::vector<std::string> nearest = all;
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& twice : all) {
    std::vector<std::string> with = all;
    with.push_back(twice);
    double off = 0;
    for (const HeldTensor& held : evidence.held) {
      const auto norm = recipe_norm_of(evidence, held.name.window, with);
      if (norm) off += std::pow(norm->front() - held.got.front(), 2);
    }
    if (off < least) least = off, nearest = with;
  }
  return nearest;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "norm") return std::nullopt;
  return recipe_norm_of(evidence, held.name.window, counted(evidence));
}

const RegisterSuspect registered{{
    .name = "norm-counts-one-twice",
    .faults = {"clip-duplicate-count"},
    .stages = {"norm"},
    .sentence = "a parameter that two owners share is counted twice in the norm",
    .formula = "norm² = Σ |g_p|² + |g_q|²",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
