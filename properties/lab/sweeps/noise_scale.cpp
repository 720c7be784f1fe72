// Sweep: the gradient noise scale from the micro-batches that accumulation has anyway, against its exact value over all
// rows, and the variance of the accumulated gradient against the effective batch. Rows are drawn with replacement, so
// that the rows at hand are the whole population and the truth is exact.
#include <algorithm>

#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::noise_scale_study {
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

class NoiseScale {
 public:
  NoiseScale(const Place& place, const StudyOptions& options)
      : title_(place.title),
        windows_{place.rows, options.seed,
                 std::max<std::uint64_t>(100, static_cast<std::uint64_t>(400 * options.effort))},
        exact_(exact_noise(place.rows)) {}

  void estimates(Study& study);
  void variances(Study& study);
  double exact_scale() const { return static_cast<double>(exact_.scale()); }
  const std::vector<double>& scales() const { return scales_; }
  const std::vector<double>& spreads() const { return spreads_; }
  const Fit& variance_fit() const { return variance_fit_; }

 private:
  double trace() const { return static_cast<double>(exact_.trace); }
  double squared_norm() const { return static_cast<double>(exact_.squared_norm); }
  std::string note() const;
  /// The truth lies in the interval.
  void demand(Study& study, const MeanInterval& found, double exact, const std::string& what) const;
  void add(std::int64_t rows, const NoiseEstimates& drawn, Study& study, StudyTable& table, StudySeries& found);

  const std::string title_;
  const DrawnWindows windows_;
  const GradientNoise exact_;
  Fit variance_fit_{};           // of the variance against the effective batch
  std::vector<double> scales_;   // estimated, by rows of a micro-batch
  std::vector<double> spreads_;  // of one window's tr(Sigma), relative
};

void NoiseScale::demand(Study& study, const MeanInterval& found, double exact, const std::string& what) const {
  tally::demand(study, found.contains(exact),
                title_ + ": " + what + " is " + three_digits(found.low()) + " to " + three_digits(found.high()) +
                    ", the exact value " + three_digits(exact));
}

std::string NoiseScale::note() const {
  return "tr Σ and |G|² are means over " + std::to_string(windows_.count) +
         " windows, the scale their quotient; from and to are 5 standard errors away. Exact: tr Σ = " +
         three_digits(trace()) + ", |G|² = " + three_digits(squared_norm()) + ", scale " + three_digits(exact_scale()) +
         ".";
}

void add_row(StudyTable& table, std::initializer_list<double> row) {
  std::size_t column = 0;
  for (const double each : row) table.columns.at(column++).numbers.push_back(each);
}

void add_point(StudySeries& series, double x, const MeanInterval& y) {
  series.x.push_back(x), series.y.push_back(y.value);
  series.low.push_back(y.low()), series.high.push_back(y.high());
}

/// One size of micro-batches.
void NoiseScale::add(std::int64_t rows, const NoiseEstimates& drawn, Study& study, StudyTable& table,
                     StudySeries& found) {
  const MeanInterval traces = mean_interval(drawn.traces), squares = mean_interval(drawn.squared_norms);
  const MeanInterval scale = quotient_interval(drawn.traces, drawn.squared_norms);
  const auto b = static_cast<double>(rows);
  const std::string from = " from micro-batches of " + std::to_string(rows);
  demand(study, traces, trace(), "tr(Sigma)" + from);
  demand(study, squares, squared_norm(), "|G|^2" + from);
  scales_.push_back(scale.value);
  spreads_.push_back(traces.spread / trace());
  add_row(table, {b, window / b, traces.value, traces.low(), traces.high(), squares.value, squares.low(),
                  squares.high(), scale.value, scale.low(), scale.high(), spreads_.back()});
  add_point(found, b, scale);
}

void NoiseScale::estimates(Study& study) {
  StudyTable table{"Noise scale estimated from windows of 64 rows, " + title_, note(), {}};
  for (const char* name : {"rows per micro-batch", "K", "tr Σ", "from", "to", "|G|²", "from", "to", "noise scale, rows",
                           "from", "to", "one window's tr Σ, relative spread"}) {
    table.columns.push_back({name, {}, {}});
  }
  StudySeries found{"from micro-batches", {}, {}, {}, {}}, exact{"exact, all rows", {}, {}, {}, {}};
  for (const auto& [rows, drawn] : noise_estimates(windows_, window)) {
    add(rows, drawn, study, table, found);
    exact.x.push_back(static_cast<double>(rows)), exact.y.push_back(exact_scale());
  }
  study.tables.push_back(std::move(table));
  study.plots.push_back({"Noise scale against rows per micro-batch, " + title_,
                         "rows per micro-batch",
                         "tr Σ / |G|², rows",
                         true,
                         false,
                         {found, exact}});
}

void NoiseScale::variances(Study& study) {
  StudyTable table{
      "Variance of the accumulated gradient, " + title_,
      "E |g_N - G|² over windows drawn with replacement, 5 standard errors to each side; theory: tr Σ / N.",
      {{"effective batch, rows", {}, {}},
       {"variance", {}, {}},
       {"from", {}, {}},
       {"to", {}, {}},
       {"tr Σ / N", {}, {}}}};
  StudySeries found{"drawn", {}, {}, {}, {}}, theory{"tr Σ / N", {}, {}, {}, {}};
  for (const auto& [n, drawn] : squared_deviations(windows_, largest_batch)) {
    const MeanInterval variance = mean_interval(drawn);
    const auto rows = static_cast<double>(n);
    demand(study, variance, trace() / rows, "the variance at an effective batch of " + std::to_string(n));
    add_row(table, {rows, variance.value, variance.low(), variance.high(), trace() / rows});
    add_point(found, rows, variance);
    theory.x.push_back(rows), theory.y.push_back(trace() / rows);
  }
  variance_fit_ = fit_power(found.x, found.y);
  study.tables.push_back(std::move(table));
  study.plots.push_back({"Gradient variance against effective batch, " + title_,
                         "effective batch, rows",
                         "E |g - G|²",
                         true,
                         true,
                         {found, theory}});
}

/// "0.1 to 0.3".
std::string range(const std::vector<double>& numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  return three_digits(low) + " to " + three_digits(high);
}

/// One number for every place, in the order of the tables.
struct Answer {
  std::vector<double> exact, finest, finest_spread, coarsest_spread, powers;
  std::string found(std::size_t place) const {
    return three_digits(finest[place]) + " (exact: " + three_digits(exact[place]) + ")";
  }
  std::string text() const {
    return "From micro-batches of 1 row the noise scale is estimated as " + found(0) + " rows on drawn data and " +
           found(2) + " on digits at the start, " + found(1) + " and " + found(3) +
           " after training. One window of 64 rows gives tr Σ with a relative spread of " + range(finest_spread) +
           " from micro-batches of 1 row and of " + range(coarsest_spread) +
           " from two of 32; the variance of the gradient goes as the effective batch to the power " + range(powers) +
           ".";
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
      answer.exact.push_back(found.exact_scale());
      answer.finest.push_back(found.scales().front());
      answer.finest_spread.push_back(found.spreads().front());
      answer.powers.push_back(found.variance_fit().slope);
      answer.coarsest_spread.push_back(found.spreads().back());
    }
  }
  study.answer = answer.text();
  study.notes = {
      "G and Σ are mean and covariance of the exact gradients of 512 rows, evaluated one by one in long "
      "double (linear 16, tanh, linear; cross-entropy); windows draw rows from them with replacement.",
      "Estimator: tr Σ = (mean |g_b|² - |g_N|²) / (1/b - 1/N), |G|² = (N |g_N|² - b mean |g_b|²) / (N - b) "
      "(McCandlish et al. 2018, appendix A.1), g_b over the K micro-batches, g_N accumulated.",
      "After training: two passes over the 512 rows in windows of 32 at rate 1/4."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "noise_scale",
    .question = "What do a window's micro-batches tell about the gradient noise scale, and what does accumulation do "
                "to the variance?",
    .run = run,
}};

}  // namespace
}  // namespace tally::noise_scale_study
