// Law: every kernel keeps its bound where sizes lie around warp, block and tile edges: rows, features in, features
// between and classes are each drawn there, below and above.
#include <algorithm>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::kernels_keep_their_bound_at_edges_law {
namespace {

std::int64_t edge(std::uint64_t drawn) {
  static const std::int64_t edges[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  return edges[drawn % 14];
}

void shape(Plan& plan) {
  static const char* norms[] = {"layer_norm", "batch_norm", "rms_norm", ""};
  const std::uint64_t seed = plan.seed;
  plan.input = seed % 5 == 0 ? 257 : edge(seed);
  plan.hidden = {layer("linear", "fc1", {{"out", edge(seed / 14)}})};
  const std::string norm = norms[seed % 4];
  if (norm == "layer_norm" || norm == "rms_norm") plan.hidden.push_back(layer(norm, "norm1"));
  if (norm == "batch_norm") plan.hidden.push_back(layer(norm, "norm1", {{"statistics", std::string("window")}}));
  plan.hidden.push_back(layer(seed % 2 == 0 ? "relu" : "gelu"));
  plan.outputs = std::max<std::int64_t>(edge(seed / 7), 2);
  plan.windows = {{edge(seed / 3) % 66 + 1, 1 + static_cast<std::int64_t>(seed % 3)}};
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "kernels_keep_their_bound_at_edges",
    .family = "kernels",
    .statement = "Every kernel keeps its bound at every size around warp, block and tile edges.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::kernels_keep_their_bound_at_edges_law
