// Laws of sizes: kernels keep their bound at every edge and launch, and over many micro-batches.
#include <algorithm>
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: every kernel keeps its bound on every way of its launch, in every precision: one thread a row or a warp, one
// block or several, strides over rows and over the grid, the last of each full or cut.
namespace tally::every_launch_path_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& x = other.tensors.at("x");
  x.set(0, 1 - x.value(0));
  x.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_launch_path_keeps_its_bound",
    .family = "kernels",
    .statement = "Every kernel keeps its bound on every way of its launch, in every precision.",
    .shape = design_launches,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .weight = 2.25,
    .designed = true,
}};

}  // namespace
}  // namespace tally::every_launch_path_keeps_its_bound_law

// Law: every kernel keeps its bound where sizes lie around warp, block and tile edges: rows, features in, features
// between and classes are each drawn there, below and above.
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

// Law: a micro-batch of more rows than a grid has blocks in its second dimension is computed whole.
//   65,535 is CUDA's limit of gridDim.y; one feature and one output, so that exact arithmetic stays cheap
namespace tally::more_rows_than_a_grid_law {
namespace {

void shape(Plan& plan) {
  plan.input = 1;
  plan.hidden.clear();
  plan.outputs = 1;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.windows = {{65537}};
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "more_rows_than_a_grid",
    .family = "kernels",
    .statement = "A micro-batch of more rows than a grid has blocks is computed whole.",
    .shape = shape,
    .holds = holds,
    .control = "another first row gives other outputs",
    .differs = differs,
    .weight = 0.025,
}};

}  // namespace
}  // namespace tally::more_rows_than_a_grid_law

// Law: the same 32 rows, cut into 1, 2, 4, … 32 micro-batches, stay inside the bound however many there are; the drift
// that each cut shows is what the report plots against K.
namespace tally::many_micro_batches_stay_bounded_law {
namespace {

constexpr std::int64_t rows = 32;

void shape(Plan& plan) {
  const std::int64_t micro_batches = std::int64_t{1} << (plan.seed % 6);
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches), rows / micro_batches)};
  plan.input = 16;
  plan.outputs = 4;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{16}}}), layer("relu")};
  plan.loss = choice("loss", "cross_entropy");
  plan.ignored_percent = 0;
  plan.normalisation = Normalisation::window_items;
  plan.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"256"}}});
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case summed = c;
  summed.normalisation = Normalisation::sum;
  return bits_differ(run(c, subject), run(summed, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "many_micro_batches_stay_bounded",
    .family = "scale",
    .statement = "The same rows stay inside the bound however many micro-batches they are cut into.",
    .shape = shape,
    .holds = holds,
    .control = "summing instead of averaging gives other gradients",
    .differs = differs,
    .weight = 2,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::many_micro_batches_stay_bounded_law

// Law: the accumulate stage alone, K like addends: its error grows as an unbiased rounding's, below the line that a
// biased one follows.
//   A_k = k g: nearest leaves an error of about u g sqrt(Σ k²) / sqrt 3, toward zero one of u g Σ k / 2
// Every micro-batch is the same rows; the error of each buffer is taken against the exact sum of the gradients that
// were tapped. The sum of signed errors over all elements is held to six of its standard deviations, as if each
// rounding were uniform. Vacuous without an addition that rounds.
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
