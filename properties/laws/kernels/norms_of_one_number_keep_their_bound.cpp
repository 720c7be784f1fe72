// Law: norms of one number keep their bounds. Where all that is normalised is one large number, the variance is 0 and
// eps alone stands under the root; a variance that is worked out from E[x²] comes to a little more or less, by so many
// times eps, and below 0 it is none. By every kernel of statistics, rows and columns.
#include <algorithm>
#include <array>

#include "kernels/device/kernel_registry.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::norms_of_one_number_keep_their_bound_law {
namespace {

/// What works out a variance, and of how many features: squares of 16-bit numbers are summed exactly where these are
/// few.
constexpr std::array operations{"layer_norm.forward", "batch_norm.statistics"};
constexpr std::array<std::int64_t, 4> features{3, 7, 13, 41};

void shape(Plan& plan) {
  std::uint64_t left = plan.seed;
  const auto next = [&](std::size_t count) {
    const std::uint64_t drawn = left % count;
    left /= count;
    return static_cast<std::size_t>(drawn);
  };
  const std::string operation = operations[next(operations.size())], kind = operation.substr(0, operation.find('.'));
  const std::vector<std::string> variants = shipped_variants(operation, ExecutorKind::host);
  const std::string& variant = variants[next(variants.size())];
  const Options options = kind == "batch_norm" ? Options{{"statistics", std::string("window")}} : Options{};
  plan.tokens = {};
  plan.hidden = {layer("linear", "fc1", {{"out", features[next(features.size())]}}), layer(kind, "norm1", options)};
  plan.execution.kernels[operation] = variant;
  plan.windows = {{7, 5}};
  plan.empty_micro_batch = false;
  plan.constant = true;
}

bool is_for(const Case& c) {
  return std::ranges::any_of(c.model.layers, [](const Layer& l) {
    return l.name == "norm1" && (l.kind == "layer_norm" || l.kind == "batch_norm");
  });
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_for(c)) return not_for("a layer_norm or batch_norm called norm1");
  return run_and_check(c, subject).outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "norms_of_one_number_keep_their_bound",
    .family = "kernels",
    .statement = "Where all that is normalised is one large number, every kernel of statistics keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
}};
const RegisterDesigned designed("norms_of_one_number_keep_their_bound");

}  // namespace
}  // namespace tally::norms_of_one_number_keep_their_bound_law
