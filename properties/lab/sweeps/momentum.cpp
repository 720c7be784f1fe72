// Sweep: one window of K micro-batches against K windows of one, at equal samples seen, under SGD with momentum. The
// same beta remembers K times as many samples when a step is K micro-batches.
#include <cmath>

#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::momentum_study {
namespace {

constexpr std::int64_t rows = 4, steps = 64, most = 16;  // rows a micro-batch, micro-batches in all, largest K
constexpr double long_run_rate = 0x1p-6;                 // h / (1 - beta), the same for every beta
constexpr double momenta[] = {0, 0.5, 0.9, 0.99};

MomentumSettings settings(double beta, double scale = 1) { return {scale * long_run_rate * (1 - beta), beta}; }

/// Relative distance to the run that steps on every micro-batch, and its limit as the rate falls to 0.
struct Apart {
  double found = 0, limit = 0;
};

/// A problem with the gradients of its micro-batches at the start.
struct Start {
  Case c;
  std::vector<Point> gradients;
  explicit Start(const ExactProblem& problem)
      : c(exact_case(problem)), gradients(gradients_at_start(in_windows(c, steps, 1, rows))) {}

  Apart apart(std::int64_t k, double beta, const MomentumRule& rule) const {
    const MomentumSettings one = settings(beta), wide = rule.scaled(one, static_cast<double>(k));
    const Point each = trained_in_windows(c, 1, rows, one), way = first_order_way(gradients, 1, one);
    const Point off = difference(trained_in_windows(c, k, rows, wide), each);
    const Point limit = difference(first_order_way(gradients, k, wide), way);
    return {static_cast<double>(norm(off) / norm(difference(each, untrained(c)))),
            static_cast<double>(norm(limit) / norm(way))};
  }

  /// The distance less its first-order part, at rates halved again and again: of second order.
  RateOrder order_of_the_rest(std::int64_t k, double beta, const MomentumRule& rule) const {
    std::vector<double> rest;
    for (int i = 6; i < 10; ++i) {
      const MomentumSettings one = settings(beta, std::ldexp(1, -i)), wide = rule.scaled(one, static_cast<double>(k));
      Point off = difference(trained_in_windows(c, k, rows, wide), trained_in_windows(c, 1, rows, one));
      add_to(off, -1, first_order_way(gradients, k, wide));
      add_to(off, 1, first_order_way(gradients, 1, one));
      rest.push_back(static_cast<double>(norm(off)));
    }
    return order_in_rate(rest);
  }
};

/// After one window with a gradient and then windows of ignored rows alone: the windows until the buffer is down to
/// half.
std::int64_t measured_half_life(double beta) {
  Case c = exact_case({.rows = 2 * 512});
  c = with_optimizer(in_windows(std::move(c), 512, 1, 2), sgd(beta), long_run_rate);
  Tensor& target = c.tensors.at("target");
  for (std::size_t row = 2; row < target.elements(); ++row) target.set(row, -100);
  auto state = oracle::initial_state<long double>(c);
  long double first = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    state = oracle::evaluate_window(c, w, oracle::Branch::accumulated, state).after;
    const long double left = state.slots.at("out.bias").state.at(0).norm();
    if (w == 0) first = left;
    if (2 * left <= first) return static_cast<std::int64_t>(w);
  }
  return -1;
}

void add_half_lives(Study& study) {
  StudyTable table{"Half-life of a gradient in the momentum buffer, in samples",
                   "ln(1/2) / ln(β) steps, times the 4 K samples of a step, rounded; the last column is measured, in "
                   "whole steps, over windows without a gradient.",
                   {{"β", {}, {}},
                    {"K = 1", {}, {}},
                    {"K = 4, same β", {}, {}},
                    {"K = 16, same β", {}, {}},
                    {"K = 16, β to the 16th", {}, {}},
                    {"steps to half, K = 1", {}, {}}}};
  for (const double beta : {0.5, 0.9, 0.95, 0.99}) {
    const double samples = rows * half_life(beta);
    const std::int64_t measured = measured_half_life(beta);
    const double row[] = {beta,
                          samples,
                          4 * samples,
                          16 * samples,
                          16 * rows * half_life(std::pow(beta, 16)),
                          static_cast<double>(measured)};
    for (std::size_t i = 1; i < std::size(row); ++i) table.columns[i].numbers.push_back(std::round(row[i]));
    table.columns[0].numbers.push_back(beta);
    tally::demand(study, static_cast<double>(measured) == std::ceil(half_life(beta)),
                  "with beta " + three_digits(beta) + " the buffer is down to half after " + std::to_string(measured) +
                      " steps, expected " + three_digits(std::ceil(half_life(beta))));
  }
  study.tables.push_back(std::move(table));
}

/// Mean over the draws, for all K, momenta and rules.
class Distances {
 public:
  Distances(const std::vector<ExactProblem>& problems, const StudyOptions& options) : title_(title_of(problems[0])) {
    for (const ExactProblem& problem : problems) {
      if (options.interrupted != nullptr && options.interrupted->load()) return;
      const Start start(problem);
      for (std::int64_t k = 1; k <= most; k *= 2) add(start, k);
      orders_.push_back(start.order_of_the_rest(most, 0.9, momentum_rules().back()));
    }
  }

  void show(Study& study) const;
  void demand(Study& study) const;
  double mean(double beta, std::int64_t k, std::size_t rule) const { return mean_of(beta, k, rule, &Apart::found); }

 private:
  using Place = std::pair<std::pair<double, std::int64_t>, std::size_t>;  // ((beta, K), rule)

  void add(const Start& start, std::int64_t k) {
    for (const double beta : momenta) {
      for (std::size_t i = 0; i < momentum_rules().size(); ++i) {
        all_[{{beta, k}, i}].push_back(start.apart(k, beta, momentum_rules()[i]));
      }
    }
  }
  double mean_of(double beta, std::int64_t k, std::size_t rule, double Apart::*part) const {
    double sum = 0;
    const auto& found = all_.at({{beta, k}, rule});
    for (const Apart& each : found) sum += each.*part;
    return sum / static_cast<double>(found.size());
  }

  std::string title_;
  std::map<Place, std::vector<Apart>> all_;
  std::vector<RateOrder> orders_;  // of what first order leaves, one a draw
};

void Distances::show(Study& study) const {
  StudyTable table{"Distance after the same " + std::to_string(steps * rows) + " samples, " + title_,
                   "To the run with a step for every micro-batch of 4, relative to the way that run went; mean over "
                   "the draws. The limit is what stays as the rate falls to 0.",
                   {{"β", {}, {}}, {"K", {}, {}}}};
  for (const MomentumRule& rule : momentum_rules()) {
    table.columns.push_back({rule.name, {}, {}});
    table.columns.push_back({std::string(rule.name) + ", limit", {}, {}});
  }
  for (const double beta : momenta) {
    StudyPlot plot{"Distance at equal samples, β = " + three_digits(beta) + ", " + title_,
                   "micro-batches in a step, K",
                   "distance / way gone",
                   true,
                   true,
                   {}};
    for (const MomentumRule& rule : momentum_rules()) plot.series.push_back({rule.name, {}, {}, {}, {}});
    for (std::int64_t k = 2; k <= most; k *= 2) {
      table.columns[0].numbers.push_back(beta);
      table.columns[1].numbers.push_back(static_cast<double>(k));
      for (std::size_t i = 0; i < momentum_rules().size(); ++i) {
        table.columns[2 + 2 * i].numbers.push_back(mean_of(beta, k, i, &Apart::found));
        table.columns[3 + 2 * i].numbers.push_back(mean_of(beta, k, i, &Apart::limit));
        plot.series[i].x.push_back(static_cast<double>(k));
        plot.series[i].y.push_back(mean_of(beta, k, i, &Apart::found));
      }
    }
    if (beta > 0) study.plots.push_back(std::move(plot));
  }
  study.tables.push_back(std::move(table));
}

void Distances::demand(Study& study) const {
  for (const double beta : momenta) {
    for (std::size_t i = 0; i < momentum_rules().size(); ++i) {
      tally::demand(study, mean(beta, 1, i) == 0,
                    title_ + ": with K = 1 the two runs are one, and differ by " + three_digits(mean(beta, 1, i)));
    }
  }
  for (const RateOrder& order : orders_) {
    tally::demand(study, order.contains(2),
                  title_ + ": what the first-order terms leave of the distance falls with the exponent " +
                      words_of(order) + ", expected 2");
  }
}

std::vector<ExactProblem> draws(RowSource source, const StudyOptions& options) {
  const int count = std::max(1, static_cast<int>((source == RowSource::drawn ? 4 : 1) * options.effort));
  std::vector<ExactProblem> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({.source = source, .rows = steps * rows, .seed = options.seed + static_cast<std::uint64_t>(i)});
  }
  return all;
}

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  add_half_lives(study);
  std::vector<double> rate_scaled, half_life_kept;
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    const auto problems = draws(source, options);
    options.progress(title_of(problems.front()));
    const Distances found(problems, options);
    if (options.interrupted != nullptr && options.interrupted->load()) return study;
    found.show(study);
    found.demand(study);
    rate_scaled.push_back(found.mean(0.9, most, 1));
    half_life_kept.push_back(found.mean(0.9, most, 2));
  }
  study.answer = "On drawn data and on digits, 4 steps on K = 16 micro-batches under momentum 0.9 end " +
                 listed(rate_scaled) + " of the way from where 64 steps end when only the rate is scaled, and " +
                 listed(half_life_kept) + " when the half-life of " + three_digits(rows * half_life(0.9)) +
                 " samples is kept too; with the same momentum it would be " +
                 three_digits(16 * rows * half_life(0.9)) + " samples.";
  study.notes = {"Rate h = (1 - β) 2^-6, so that every β has the same long-run rate h / (1 - β) = 2^-6.",
                 "Half-life kept: β^K and the rate K h (1 - β^K) / (1 - β).",
                 "The limit takes every gradient at the first parameters; what it leaves of the distance must fall as "
                 "the square of the rate, which is checked for β = 0.9, K = 16 by halving the rate.",
                 "Linear 16, tanh, linear; cross-entropy. Everything is evaluated in long double by the oracle; no "
                 "rounding of a subject is in it."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "momentum",
    .question = "At equal samples, how far do windows of K micro-batches end from K windows of one, under momentum?",
    .run = run,
}};

}  // namespace
}  // namespace tally::momentum_study
