// Law: the accumulate stage alone, K like addends: its error grows as an unbiased rounding's, below the line that a
// biased one follows.
//   A_k = k g: nearest leaves an error of about u g sqrt(Σ k²) / sqrt 3, toward zero one of u g Σ k / 2
// Every micro-batch is the same rows; the error of each buffer is taken against the exact sum of the gradients that
// were tapped. The sum of signed errors over all elements is held to six of its standard deviations, as if each
// rounding were uniform. Vacuous without an addition that rounds.
#include <algorithm>
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::like_addends_drift_slowly_law {
namespace {

constexpr std::size_t micro_batches = 64;

void shape(Plan& plan) {
  usual_formats(plan);
  plan.windows = {std::vector<std::int64_t>(micro_batches, 2)};
  plan.input = 6;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{6}}}), layer("tanh")};
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

/// Every micro-batch sees the rows of the first.
Case with_like_micro_batches(Case c) {
  for (const std::string name : {"x", "target"}) {
    Tensor& tensor = c.tensors.at(name);
    const std::size_t first = tensor.bytes.size() / micro_batches;
    for (std::size_t i = first; i < tensor.bytes.size(); ++i) tensor.bytes[i] = tensor.bytes[i - first];
    tensor.drawing.reset();
  }
  return c;
}

/// Signed roundings away from zero, and the variance they would have if each were uniform in its last place.
struct Drift {
  double away = 0, variance = 0;
};

void add_rounding(Drift& drift, double before, double gradient, double after) {
  const double exact = before + gradient;  // of two floats of like size: exact in binary64
  const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  if (exact == 0 || after == exact) return;
  drift.away += (exact > 0 ? after - exact : exact - after) / unit;
  drift.variance += 1.0 / 12;
}

Drift drift_of(const Case& c, const Trace& trace) {
  Drift drift;
  for (const std::string& parameter : parameters_of(c.model)) {
    for (std::size_t k = 1; k < micro_batches; ++k) {
      const std::string at = "w0/m" + std::to_string(k) + "/accumulate/";
      const Tensor *before = trace.find(at + "in.buffer." + parameter), *added = trace.find(at + "in.d." + parameter);
      const Tensor* after = trace.find(at + "buffer." + parameter);
      for (std::size_t i = 0; before && added && after && i < after->elements(); ++i) {
        add_rounding(drift, before->value(i), added->value(i), after->value(i));
      }
    }
  }
  return drift;
}

/// One window of as many micro-batches of one size, of features and under mse.
bool is_alike(const Case& c) {
  if (c.windows.size() != 1 || c.model.tokens || c.model.loss.kind != "mse") return false;
  const std::vector<std::int64_t>& sizes = c.windows.front();
  return sizes.size() == micro_batches && std::ranges::count(sizes, sizes.front()) == std::ssize(sizes);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_alike(c)) return not_for("one window of 64 micro-batches of one size, of features and under mse");
  const Case like = with_like_micro_batches(c);
  CheckedRun judged = run_and_check(like, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Drift drift = drift_of(like, judged.trace);
  const double most = 6 * std::sqrt(drift.variance * micro_batches);  // like addends repeat their roundings
  require(judged.outcome, std::fabs(drift.away) <= most, "w0/accumulate", "accumulate",
          "the roundings of the buffer lean one way by " + std::to_string(drift.away) +
              " units of the last place, more than " + std::to_string(most));
  Outcome outcome = settled(std::move(judged.outcome));
  return drift.variance == 0 ? vacuous(std::move(outcome), "no addition rounded") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  const Case like = with_like_micro_batches(c);
  return bits_differ(run(c, subject), run(like, subject), {"accumulate"});
}

const RegisterLaw registered{{
    .name = "like_addends_drift_slowly",
    .family = "scale",
    .statement = "Over many like addends the buffer drifts as unbiased rounding does.",
    .shape = shape,
    .holds = holds,
    .control = "other rows in every micro-batch give other buffers",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::like_addends_drift_slowly_law
