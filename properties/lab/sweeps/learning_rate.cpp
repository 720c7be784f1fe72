// Sweep: how far one step at K times the learning rate lands from K steps. K steps of SGD at rate h move by
// -h sum_k g_k(p_k), p_k being h away from the start; one step at K h on the mean gradient moves by -h sum_k g_k(p_0).
// The first-order terms are the same, so the distance is O(h^2). With momentum the K steps weigh early micro-batches
// more, and Adam divides by another second moment: there the first-order terms differ, and the distance is O(h).
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::learning_rate_study {
namespace {

constexpr std::int64_t micro_batches = 4, micro_batch_rows = 4, samples = 256;
constexpr int halvings = 9;
constexpr double largest_rate = 0x1p-5, path_rate = 0x1p-7;

/// An optimizer, and how the rate of a step on K micro-batches follows from K.
struct Rule {
  const char* name;
  Choice optimizer;
  double power;  // the rate is multiplied by K^power
  double order;  // of the distance in the rate
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{{"SGD, rate × K", sgd(0), 1, 2},
                                     {"SGD with momentum 0.9, rate × K", sgd(0.9), 1, 1},
                                     {"Adam, rate × √K", choice("optimizer", "adam"), 0.5, 1},
                                     {"Adam, rate × K", choice("optimizer", "adam"), 1, 1}};
  return all;
}

/// The distance between one step and K, and how far the K steps went.
struct Apart {
  double distance = 0, moved = 0;
};

/// `c` holds rows for `windows` windows of K micro-batches.
Apart apart(const Case& c, const Rule& rule, std::int64_t windows, std::int64_t k, std::int64_t rows, double rate) {
  const double scaled = rate * std::pow(static_cast<double>(k), rule.power);
  const Point steps = trained(with_optimizer(in_windows(c, windows * k, 1, rows), rule.optimizer, rate));
  const Point step = trained(with_optimizer(in_windows(c, windows, k, rows), rule.optimizer, scaled));
  return {static_cast<double>(norm(difference(step, steps))),
          static_cast<double>(norm(difference(steps, untrained(c))))};
}

struct Draws {
  std::vector<ExactProblem> problems;

  /// Root mean square over the problems; relative to the way gone if asked.
  double mean(const Rule& rule, std::int64_t windows, std::int64_t k, double rate, bool relative) const {
    double sum = 0;
    for (ExactProblem problem : problems) {
      problem.rows = windows * k * micro_batch_rows;
      const Apart found = apart(exact_case(problem), rule, windows, k, micro_batch_rows, rate);
      const double each = relative ? found.distance / found.moved : found.distance;
      sum += each * each;
    }
    return std::sqrt(sum / static_cast<double>(problems.size()));
  }
};

Draws draws(RowSource source, const StudyOptions& options) {
  const int drawn = source == RowSource::drawn ? 8 : 3;
  Draws all;
  for (int i = 0; i < std::max(1, static_cast<int>(drawn * options.effort)); ++i) {
    all.problems.push_back({.source = source, .seed = options.seed + static_cast<std::uint64_t>(i)});
  }
  return all;
}

/// One step against K, at ever smaller rates: distances by rule, with their orders.
struct Orders {
  std::vector<double> rates;
  std::vector<std::vector<double>> distances;  // [rule][rate]
  std::vector<RateOrder> orders;               // [rule]
};

Orders orders_of(const Draws& draws) {
  Orders found;
  for (int i = 0; i < halvings; ++i) found.rates.push_back(std::ldexp(largest_rate, -i));
  for (const Rule& rule : rules()) {
    std::vector<double>& distances = found.distances.emplace_back();
    for (const double rate : found.rates) distances.push_back(draws.mean(rule, 1, micro_batches, rate, false));
    found.orders.push_back(order_in_rate(distances));
  }
  return found;
}

void show(const Orders& found, const std::string& title, Study& study) {
  StudyTable table{"One step against K = 4, " + title,
                   "2-norm over all parameters, root mean square over the draws.",
                   {{"learning rate", {}, found.rates}}};
  StudyPlot plot{"Distance between one step and K = 4 steps, " + title,
                 "learning rate of the K steps",
                 "distance, 2-norm of parameters",
                 true,
                 true,
                 {}};
  StudyTable orders{"Order in the learning rate, " + title,
                    "The exponent of the distance as the rate falls to 0. Theory: 2 where the first-order terms agree.",
                    {{"rule", {}, {}},
                     {"theory", {}, {}},
                     {"exponent, with its interval", {}, {}},
                     {"line through all rates", {}, {}}}};
  for (std::size_t i = 0; i < rules().size(); ++i) {
    const Rule& rule = rules()[i];
    table.columns.push_back({rule.name, {}, found.distances[i]});
    plot.series.push_back({rule.name, found.rates, found.distances[i], {}, {}});
    orders.columns[0].words.push_back(rule.name);
    orders.columns[1].numbers.push_back(rule.order);
    orders.columns[2].words.push_back(words_of(found.orders[i]));
    orders.columns[3].numbers.push_back(fit_power(found.rates, found.distances[i]).slope);
  }
  study.tables.push_back(std::move(orders));
  study.tables.push_back(std::move(table));
  study.plots.push_back(std::move(plot));
}

void demand(const Orders& found, const std::string& title, Study& study) {
  for (std::size_t i = 0; i < rules().size(); ++i) {
    tally::demand(study, found.orders[i].contains(rules()[i].order),
                  std::string(rules()[i].name) + ", " + title + ": the exponent is " + words_of(found.orders[i]) +
                      ", expected " + three_digits(rules()[i].order));
  }
}

/// Equal samples on a longer way: the distance relative to the way gone, for every power of K.
struct Longer {
  StudyTable table;
  StudyPlot plot;
  double sgd_linear = 0, adam_root = 0, adam_linear = 0;  // at the largest K
};

Longer longer_way(const Draws& draws, const std::string& title) {
  Longer found;
  found.table = {"The same " + std::to_string(samples) + " samples in steps on K micro-batches of 4, " + title,
                 "Distance to the run with a step for every micro-batch at rate 2^-7, relative to the way that run "
                 "went; root mean square over the draws.",
                 {{"K", {}, {}}}};
  const Choice adam = choice("optimizer", "adam");
  const std::vector<Rule> all{{"SGD, same rate", sgd(0), 0, 1}, {"SGD, × √K", sgd(0), 0.5, 1},
                              {"SGD, × K", sgd(0), 1, 2},       {"Adam, same rate", adam, 0, 1},
                              {"Adam, × √K", adam, 0.5, 1},     {"Adam, × K", adam, 1, 1}};
  for (const Rule& rule : all) found.table.columns.push_back({rule.name, {}, {}});
  for (std::int64_t k = 2; k <= 16; k *= 2) {
    found.table.columns[0].numbers.push_back(static_cast<double>(k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t windows = samples / (k * micro_batch_rows);
      found.table.columns[i + 1].numbers.push_back(draws.mean(all[i], windows, k, path_rate, true));
    }
  }
  found.plot = {
      "Distance at equal samples, " + title, "micro-batches in a step, K", "distance / way gone", true, true, {}};
  const std::vector<double>& counts = found.table.columns.front().numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    found.plot.series.push_back({all[i].name, counts, found.table.columns[i + 1].numbers, {}, {}});
  }
  found.sgd_linear = found.table.columns[3].numbers.back();
  found.adam_root = found.table.columns[5].numbers.back();
  found.adam_linear = found.table.columns[6].numbers.back();
  return found;
}

/// One number for every problem, in the order of the tables.
struct Answer {
  std::vector<std::string> sgd, momentum;
  std::vector<double> sgd_linear, adam_root, adam_linear;
  std::string text() const {
    return "On drawn data and on digits, one step of SGD at K times the rate lands a distance from K steps that falls "
           "as the rate to the power " +
           sgd[0] + " and " + sgd[1] + "; with momentum 0.9 the power is " + momentum[0] + " and " + momentum[1] +
           ". After 256 samples in steps on K = 16 micro-batches SGD at rate × K stands " + listed(sgd_linear) +
           " of the way apart, Adam " + listed(adam_root) + " at rate × √K and " + listed(adam_linear) +
           " at rate × K.";
  }
};

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  Answer answer;
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    if (options.interrupted != nullptr && options.interrupted->load()) return study;
    const Draws all = draws(source, options);
    const std::string title = title_of(all.problems.front());
    options.progress(title);
    const Orders found = orders_of(all);
    const Longer longer = longer_way(all, title);
    show(found, title, study);
    study.tables.push_back(longer.table);
    study.plots.push_back(longer.plot);
    demand(found, title, study);
    answer.sgd.push_back(words_of(found.orders[0]));
    answer.momentum.push_back(words_of(found.orders[1]));
    answer.sgd_linear.push_back(longer.sgd_linear);
    answer.adam_root.push_back(longer.adam_root);
    answer.adam_linear.push_back(longer.adam_linear);
  }
  study.answer = answer.text();
  study.notes = {
      "Linear 16, tanh, linear; cross-entropy. Everything is evaluated in long double by the oracle; no rounding of a "
      "subject is in it.",
      "The exponent is taken between the two smallest rates; its interval follows from how it changed over the two "
      "halvings before, and holds the terms of the next two orders.",
      "Every run starts without optimizer state. The rate of the step on K micro-batches is K times (√K times) that of "
      "the K steps."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "learning_rate",
    .question = "How far does one step at a scaled learning rate land from the K steps it replaces?",
    .run = run,
}};

}  // namespace
}  // namespace tally::learning_rate_study
