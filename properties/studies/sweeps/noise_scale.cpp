// Sweep: the gradient noise scale from the micro-batches that accumulation has anyway, against its exact value over all
// rows, and the variance of the accumulated gradient against the effective batch. Rows are drawn with replacement, so
// that the rows at hand are the whole population and the truth is exact.
#include <cmath>

#include "oracle/case/family.hpp"
#include "properties/studies/study.hpp"
#include "properties/studies/sweeps/exact_problem.hpp"
#include "properties/studies/sweeps/gradient_noise.hpp"
#include "properties/studies/sweeps/mean_interval.hpp"

namespace tally {
namespace {

constexpr std::int64_t population = 512, window = 64, largest_batch = 256;

/// Where the gradients are taken: at the first parameters, or after some training.
struct Place {
  std::string title;
  std::vector<Point> rows;  // exact gradient of every row's loss
};

Place place_at(const Case& c, std::string title) {
  return {std::move(title), gradients_at_start(in_windows(c, population, 1, 1))};
}

/// The case with the parameters (as fp32) after two passes in windows of 32 rows at rate 2^-2.
Case after_training(const Case& c) {
  Case trained = with_optimizer(in_windows(c, population / 32, 1, 32), sgd(0), 0.25);
  auto state = oracle::initial_state<long double>(trained);
  for (std::size_t i = 0; i < 2 * trained.windows.size(); ++i) {
    state = oracle::evaluate_window(trained, i % trained.windows.size(), oracle::Branch::accumulated, state).after;
  }
  trained = c;
  for (const auto& [name, slot] : state.slots) {
    Tensor& tensor = trained.tensors.at(name);
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      tensor.set(i, static_cast<double>(slot.parameter.data()[i]));
    }
    tensor.drawing.reset();
  }
  return trained;
}

/// Which row is the i-th of draw t: any of them, with replacement.
const Point& drawn_row(const Place& place, std::uint64_t seed, std::uint64_t t, std::int64_t i) {
  const Words words(seed, 0, t * largest_batch + static_cast<std::uint64_t>(i));
  return place.rows[words.below(0, place.rows.size())];
}

/// Neighbours averaged: the same rows in micro-batches twice as large.
std::vector<Point> joined(const std::vector<Point>& micro_batches) {
  std::vector<Point> pairs;
  for (std::size_t i = 0; i + 1 < micro_batches.size(); i += 2) {
    pairs.push_back(mean_of({micro_batches[i], micro_batches[i + 1]}));
  }
  return pairs;
}

class NoiseScale {
 public:
  NoiseScale(const Place& place, const StudyOptions& options)
      : place_(place),
        seed_(options.seed),
        draws_(std::max<std::uint64_t>(100, static_cast<std::uint64_t>(400 * options.effort))),
        exact_(exact_noise(place.rows)) {}

  void estimates(Study& study);
  void variances(Study& study);
  const GradientNoise& exact() const { return exact_; }
  const std::vector<double>& scales() const { return scales_; }
  const std::vector<double>& spreads() const { return spreads_; }

 private:
  /// The truth lies in the interval.
  void demand(Study& study, const MeanInterval& found, double exact, const std::string& what) const {
    if (found.contains(exact)) return;
    study.status = Status::fail;
    study.message = place_.title + ": " + what + " is " + brief(found.low()) + " to " + brief(found.high()) +
                    ", the exact value " + brief(exact);
  }

  const Place& place_;
  std::uint64_t seed_;
  std::uint64_t draws_;
  GradientNoise exact_;
  std::vector<double> scales_;   // estimated, by rows of a micro-batch
  std::vector<double> spreads_;  // of one window's tr(Sigma), relative
};

void NoiseScale::estimates(Study& study) {
  StudyTable table{"Noise scale estimated from windows of 64 rows, " + place_.title,
                   "tr Σ and |G|² are means over " + std::to_string(draws_) +
                       " windows, the scale their quotient; from and to are 5 standard errors away. Exact: tr Σ = " +
                       brief(static_cast<double>(exact_.trace)) +
                       ", |G|² = " + brief(static_cast<double>(exact_.squared_norm)) + ", scale " +
                       brief(static_cast<double>(exact_.scale())) + ".",
                   {}};
  for (const char* name : {"rows per micro-batch", "K", "tr Σ", "from", "to", "|G|²", "from", "to", "noise scale, rows",
                           "from", "to", "one window's tr Σ, relative spread"}) {
    table.columns.push_back({name, {}, {}});
  }
  std::map<std::int64_t, std::vector<double>> traces, squares;  // by rows of a micro-batch; one a window
  for (std::uint64_t t = 0; t < draws_; ++t) {
    std::vector<Point> micro_batches;
    for (std::int64_t i = 0; i < window; ++i) micro_batches.push_back(drawn_row(place_, seed_, t, i));
    for (std::int64_t rows = 1; rows < window; rows *= 2) {
      const GradientNoise each = estimated_noise(micro_batches, rows);
      traces[rows].push_back(static_cast<double>(each.trace));
      squares[rows].push_back(static_cast<double>(each.squared_norm));
      micro_batches = joined(micro_batches);
    }
  }
  StudySeries found{"from micro-batches", {}, {}, {}, {}}, exact{"exact, all rows", {}, {}, {}, {}};
  for (std::int64_t rows = 1; rows < window; rows *= 2) {
    const MeanInterval trace = mean_interval(traces[rows]), square = mean_interval(squares[rows]);
    const MeanInterval scale = quotient_interval(traces[rows], squares[rows]);
    const auto b = static_cast<double>(rows);
    spreads_.push_back(trace.spread / static_cast<double>(exact_.trace));
    scales_.push_back(scale.value);
    const double row[] = {
        b,           window / b,  trace.value,  trace.low(),    trace.high(), square.value, square.low(), square.high(),
        scale.value, scale.low(), scale.high(), spreads_.back()};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
    const std::string from = " from micro-batches of " + std::to_string(rows);
    demand(study, trace, static_cast<double>(exact_.trace), "tr(Sigma)" + from);
    demand(study, square, static_cast<double>(exact_.squared_norm), "|G|^2" + from);
    found.x.push_back(b), found.y.push_back(scale.value);
    found.low.push_back(scale.low()), found.high.push_back(scale.high());
    exact.x.push_back(b), exact.y.push_back(static_cast<double>(exact_.scale()));
  }
  study.tables.push_back(std::move(table));
  study.plots.push_back({"Noise scale against rows per micro-batch, " + place_.title,
                         "rows per micro-batch",
                         "tr Σ / |G|², rows",
                         true,
                         false,
                         {found, exact}});
}

void NoiseScale::variances(Study& study) {
  StudyTable table{
      "Variance of the accumulated gradient, " + place_.title,
      "E |g_N - G|² over windows drawn with replacement, 5 standard errors to each side; theory: tr Σ / N.",
      {{"effective batch, rows", {}, {}},
       {"variance", {}, {}},
       {"from", {}, {}},
       {"to", {}, {}},
       {"tr Σ / N", {}, {}}}};
  StudySeries found{"drawn", {}, {}, {}, {}}, theory{"tr Σ / N", {}, {}, {}, {}};
  const Point mean = mean_of(place_.rows);
  std::map<std::int64_t, std::vector<double>> squares;  // by effective batch; one a window
  for (std::uint64_t t = 0; t < draws_; ++t) {
    Point sum;  // of g - G
    for (std::int64_t n = 1; n <= largest_batch; ++n) {
      add_to(sum, 1, drawn_row(place_, seed_, t, n - 1));
      add_to(sum, -1, mean);
      const bool shown = (n & (n - 1)) == 0;
      if (shown) squares[n].push_back(static_cast<double>(squared_norm(sum)) / static_cast<double>(n * n));
    }
  }
  for (const auto& [n, drawn] : squares) {
    const MeanInterval variance = mean_interval(drawn);
    const auto rows = static_cast<double>(n);
    const double expected = static_cast<double>(exact_.trace) / rows;
    const double row[] = {rows, variance.value, variance.low(), variance.high(), expected};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
    demand(study, variance, expected, "the variance at an effective batch of " + std::to_string(n));
    found.x.push_back(rows), found.y.push_back(variance.value);
    found.low.push_back(variance.low()), found.high.push_back(variance.high());
    theory.x.push_back(rows), theory.y.push_back(expected);
  }
  study.tables.push_back(std::move(table));
  study.plots.push_back({"Gradient variance against effective batch, " + place_.title,
                         "effective batch, rows",
                         "E |g - G|²",
                         true,
                         true,
                         {found, theory}});
}

/// One number for every place, in the order of the tables.
struct Answer {
  std::vector<double> exact, finest, finest_spread, coarsest_spread;
  std::string text() const {
    return "At the start and after training, on drawn data and then on digits, the exact noise scale is " +
           listed(exact) + " rows; micro-batches of 1 row estimate " + listed(finest) +
           ". One window of 64 rows knows tr Σ with a relative spread of " + listed(finest_spread) +
           " from micro-batches of 1 row, and of " + listed(coarsest_spread) + " from two of 32.";
  }
};

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  Answer answer;
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    const ExactProblem problem{.source = source, .rows = population, .seed = options.seed};
    const Case start = exact_case(problem);
    for (const bool later : {false, true}) {
      if (options.interrupted != nullptr && options.interrupted->load()) return study;
      const std::string title = title_of(problem) + (later ? ", after training" : ", at the start");
      options.progress(title);
      const Place place = place_at(later ? after_training(start) : start, title);
      NoiseScale found(place, options);
      found.estimates(study);
      found.variances(study);
      answer.exact.push_back(static_cast<double>(found.exact().scale()));
      answer.finest.push_back(found.scales().front());
      answer.finest_spread.push_back(found.spreads().front());
      answer.coarsest_spread.push_back(found.spreads().back());
    }
  }
  study.answer = answer.text();
  study.notes = {
      "G and Σ are mean and covariance of the exact gradients of 512 rows, evaluated one by one in long "
      "double; windows draw rows from them with replacement.",
      "Estimator: tr Σ = (mean |g_b|² - |g_N|²) / (1/b - 1/N), |G|² = (N |g_N|² - b mean |g_b|²) / (N - b) "
      "(McCandlish et al. 2018, appendix A.1), g_b over the K micro-batches, g_N accumulated.",
      "After training: two passes over the 512 rows in windows of 32 at rate 1/4."};
  return study;
}

const RegisterStudy registered{{
    .family = "sweep",
    .name = "noise_scale",
    .question = "What do a window's micro-batches tell about the gradient noise scale, and what does accumulation do "
                "to the variance?",
    .run = run,
}};

}  // namespace
}  // namespace tally
