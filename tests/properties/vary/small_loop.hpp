// A loop small enough to read: a linear model trained on rows with items, right or wrong in one way, run as the recorder
// runs a loop of PyTorch. It answers whatever is asked for.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "properties/diagnosis/vary/vary_verdict.hpp"

namespace tally::samples {

constexpr int features = 8;

struct SmallLoop {
  std::string kind = "right";
  std::int64_t rows = 8;
  int windows = 2;
  std::vector<std::string> precisions = {"float64", "float32"};
  bool equal_only = false;
  bool sizes_told = true;

  bool counts_items() const { return kind == "share of rows" || kind == "mean of items"; }
};

inline SmallLoop loop_of(const std::string& kind) {
  SmallLoop loop;
  loop.kind = kind;
  return loop;
}

inline VaryRun& run_in(VaryRuns& runs, const HowRun& how) { return *std::ranges::find(runs.runs, how, &VaryRun::how); }

template <class T>
using Vector = std::vector<T>;

/// From -1 to 1.
inline double drawn(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1; }

/// Moves values by up to half an ulp of a precision.
class Mover {
 public:
  Mover(const HowRun& how, const SmallLoop& loop) : engine_(static_cast<std::uint64_t>(how.moved)) {
    const std::string& by = how.moved_by.empty() ? loop.precisions.back() : how.moved_by;
    unit_ = how.moved == 0 ? 0 : by == "float32" ? 0x1p-24 : 0x1p-53;
  }
  double operator()(double value) { return unit_ == 0 ? value : value * (1 + unit_ * drawn(engine_)); }

 private:
  std::mt19937_64 engine_;
  double unit_;
};

template <class T>
struct Row {
  Vector<T> x;
  T y;
  int items;  // that count in the loss
};

template <class T>
Vector<Row<T>> window_of(const SmallLoop& loop, int window, Mover& moved) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(window) + 1);
  Vector<Row<T>> rows;
  for (std::int64_t i = 0; i < loop.rows; ++i) {
    Row<T> row{{}, T(0), loop.counts_items() ? 1 + static_cast<int>(i * 5 % 7) : 1};
    for (int j = 0; j < features; ++j) row.x.push_back(T(moved(static_cast<float>(drawn(engine)))));
    row.y = T(moved(static_cast<float>(drawn(engine))));
    rows.push_back(row);
  }
  return rows;
}

/// The gradient of the sum over all items; `centred`: about these rows' own mean.
template <class T>
Vector<T> summed(const Vector<Row<T>>& rows, const Vector<T>& w, bool centred) {
  Vector<T> mean(features, T(0)), gradient(features, T(0));
  for (const Row<T>& row : rows)
    for (std::size_t j = 0; centred && j < features; ++j) mean[j] += row.x[j] / T(rows.size());
  for (const Row<T>& row : rows) {
    T error = -row.y;
    for (std::size_t j = 0; j < features; ++j) error += w[j] * (row.x[j] - mean[j]);
    for (std::size_t j = 0; j < features; ++j) gradient[j] += T(row.items) * error * (row.x[j] - mean[j]);
  }
  return gradient;
}

template <class T>
T items_of(const Vector<Row<T>>& rows) {
  T all(0);
  for (const Row<T>& row : rows) all += T(row.items);
  return all;
}

/// By what a micro-batch's sum is divided.
template <class T>
T divisor_of(const std::string& kind, const Vector<Row<T>>& own, const Vector<Row<T>>& window, std::size_t count) {
  const T all = items_of(window);
  if (kind.ends_with("mean of means") || kind == "mean of items") return items_of(own) * T(count);
  if (kind == "sum of means") return items_of(own);
  if (kind == "divided twice") return all * T(count);
  if (kind == "share of rows") return items_of(own) * T(window.size()) / T(own.size());
  return kind == "a factor" && count > 1 ? all * T(2.5) : all;
}

template <class T>
struct Trained {
  Vector<T> w = Vector<T>(features), noise = Vector<T>(features, T(0.25));  // `noise`: the gradient is rounding alone
  Vector<Vector<T>> handed;                                                 // to each step
  std::vector<int> steps;                                                   // of each window
};

/// The last window may be of some rows alone.
template <class T>
Trained<T> trained(const SmallLoop& loop, const HowRun& how, int windows, std::size_t first = 0,
                   std::size_t count = 0) {
  Mover moved(how, loop);
  Trained<T> out;
  for (int j = 0; j < features; ++j) out.w[std::size_t(j)] = T(moved(0.125f * float(j + 1)));
  const bool centred = loop.kind.starts_with("batch_norm") && how.frozen.empty();
  Vector<T> before(features, T(0));
  for (int window = 0; window < windows; ++window) {
    Vector<Row<T>> rows = window_of<T>(loop, window, moved);
    Vector<std::int64_t> sizes = how.sizes;
    if (count > 0 && window + 1 == windows) {
      rows = {rows.begin() + std::ptrdiff_t(first), rows.begin() + std::ptrdiff_t(first + count)};
      sizes.clear();
    }
    if (sizes.empty()) sizes = {static_cast<std::int64_t>(rows.size())};
    Vector<T> total(features, T(0)), sent = total, noise = total;
    out.steps.push_back(0);
    const auto step = [&] {
      out.handed.push_back(total);
      for (std::size_t j = 0; j < features; ++j) out.w[j] -= T(0.1) * total[j];
      ++out.steps.back();
    };
    auto begin = rows.begin();
    for (const std::int64_t size : sizes) {
      const Vector<Row<T>> own(begin, begin + size);
      begin += size;
      const Vector<T> sum = summed(own, out.w, centred);
      const T told = T(*std::ranges::max_element(sizes)) * T(sizes.size());
      const T by = loop.kind == "told window" ? told : divisor_of(loop.kind, own, rows, sizes.size());
      if (loop.kind == "last alone" || loop.kind == "steps each") std::ranges::fill(total, T(0));
      for (std::size_t j = 0; j < features; ++j)
        total[j] +=
            loop.kind == "signs before the last" && begin != rows.end() ? std::copysign(T(0.125), sum[j]) : sum[j] / by;
      T norm(0);
      for (const T value : total) norm += value * value;
      for (T& value : total)
        value *= loop.kind == "clips before the last" && begin != rows.end()
                     ? std::min(T(1), T(0.0625) / std::sqrt(norm))
                     : T(1);
      for (std::size_t j = 0; loop.kind == "sends sums back" && j < features; ++j) {
        sent[j] += sum[j] / by;
        total[j] += sent[j] - sum[j] / by;
      }
      if (loop.kind == "leaves nan" && size == 1) total[0] = std::numeric_limits<T>::quiet_NaN();
      Vector<T> part(features, T(0));
      for (const Row<T>& row : own)
        for (std::size_t j = 0; j < features; ++j) part[j] += row.x[j] * row.x[j] * row.y;
      for (std::size_t j = 0; j < features; ++j) noise[j] += part[j];
      if (loop.kind == "steps each") step();
    }
    for (const Row<T>& row : rows)
      for (std::size_t j = 0; j < features; ++j) noise[j] -= row.x[j] * row.x[j] * row.y;
    for (std::size_t j = 0; loop.kind == "stale" && sizes.size() > 1 && j < features; ++j) total[j] += before[j] / T(2);
    before = total;
    if (loop.kind != "steps each") step();
    for (std::size_t j = 0; loop.kind == "adam of noise" && j < features; ++j)
      out.noise[j] -= noise[j] == 0 ? T(0) : std::copysign(T(0.0625), noise[j]);
  }
  return out;
}

inline std::vector<Vector<double>> left(const SmallLoop& loop, const HowRun& how, std::vector<int>& steps) {
  const auto kept = [&](const auto& run) -> std::vector<Vector<double>> {
    steps = run.steps;
    return {{run.w.begin(), run.w.end()}, {run.noise.begin(), run.noise.end()}};
  };
  return how.precision == "float64" ? kept(trained<double>(loop, how, loop.windows))
                                    : kept(trained<float>(loop, how, loop.windows));
}

inline VaryRun run_of(const SmallLoop& loop, const HowRun& how) {
  HowRun reference{.precision = loop.precisions.front(), .frozen = how.frozen};
  if (!how.sizes.empty()) reference.moved = how.moved, reference.moved_by = how.moved_by;
  VaryRun run;
  run.how = how;
  std::vector<int> unused;
  const auto one = left(loop, how, run.steps), two = left(loop, reference, unused);
  for (std::size_t t = 0; t < one.size(); ++t) {
    double scale = 0, most = 0;
    for (std::size_t i = 0; i < features; ++i) {
      const double off = std::fabs(one[t][i] - two[t][i]);
      scale = std::max(scale, std::fabs(two[t][i]));
      if (!(off <= most)) most = off;
    }
    run.tensors.push_back({t == 0 ? "w" : "noise", scale, most});
  }
  for (int window = 0; loop.counts_items() && window < loop.windows && !how.sizes.empty(); ++window) {
    run.items.emplace_back();
    std::int64_t row = 0;
    for (const std::int64_t size : how.sizes) {
      run.items.back().push_back(0);
      for (const std::int64_t end = row + size; row < end; ++row) run.items.back().back() += 1 + double(row * 5 % 7);
    }
  }
  return run;
}

/// Least squares: the weights, and what they leave over.
inline std::pair<Vector<double>, double> solved(const Vector<Vector<double>>& columns, const Vector<double>& target) {
  Eigen::MatrixXd a(features, static_cast<int>(columns.size()));
  for (int k = 0; k < a.cols(); ++k)
    a.col(k) = Eigen::Map<const Eigen::VectorXd>(columns[std::size_t(k)].data(), features);
  const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(target.data(), features);
  const Eigen::VectorXd w = a.colPivHouseholderQr().solve(b);
  return {{w.data(), w.data() + w.size()}, (a * w - b).norm() / b.norm()};
}

inline VaryWeights weights_of(const SmallLoop& loop, const HowWeights& how) {
  const HowRun whole{.precision = "float64", .frozen = how.frozen};
  HowRun parted = whole;
  parted.sizes = how.sizes;
  VaryWeights out;
  out.how = how, out.names_window = true, out.place = {"train.py", "loss.backward()", 31};
  Vector<Vector<double>> alone;
  std::size_t first = 0;
  for (const std::int64_t size : how.sizes) {
    alone.push_back(trained<double>(loop, whole, how.window + 1, first, std::size_t(size)).handed.back());
    for (double& value : alone.back()) value *= double(size);
    first += std::size_t(size);
  }
  const auto found = trained<double>(loop, parted, how.window + 1).handed;
  std::tie(out.found, out.rest) = solved(alone, found.back());
  std::tie(out.meant, out.meant_rest) = solved(alone, trained<double>(loop, whole, how.window + 1).handed.back());
  if (how.window == 0) return out;
  alone.push_back(found.front());
  const auto [with_terms, rest] = solved(alone, found.back());
  out.terms = {{"window 0's gradient", with_terms.back()}}, out.terms_rest = rest;
  return out;
}

inline VaryRuns nothing_run(const SmallLoop& loop) {
  VaryRuns runs;
  runs.loop = {"train.py", "train.step", 12};
  runs.rows = loop.rows, runs.windows = loop.windows, runs.precisions = loop.precisions;
  runs.equal_only = loop.equal_only, runs.sizes_told = loop.sizes_told;
  if (loop.kind.starts_with("batch_norm")) runs.layers = {"BatchNorm1d bn1"};
  return runs;
}

/// Runs what is asked for until there is a verdict; `runs` holds what was run then, and from the `start` on nothing else.
inline VaryReport judged(const SmallLoop& loop, VaryRuns& runs, bool start = true) {
  if (start) runs = nothing_run(loop);
  constexpr int most_rounds = 200;
  for (int round = 0; round < most_rounds; ++round) {
    VaryReport report = vary_verdict(runs);
    if (report.asks.empty()) return report;
    for (const HowRun& how : report.asks.runs) runs.runs.push_back(run_of(loop, how));
    for (const HowWeights& how : report.asks.weights) runs.weights.push_back(weights_of(loop, how));
  }
  return {};
}

inline VaryReport judged(const SmallLoop& loop) {
  VaryRuns runs;
  return judged(loop, runs);
}

inline const HowRun whole{.precision = "float64"}, moved{.precision = "float64", .moved = 1},
    again{.precision = "float64", .again = true};

}  // namespace tally::samples
