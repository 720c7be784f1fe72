// Sweep: the parameters' drift over the windows of one training, free running, and each window's own certificate.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally::steps_study {
namespace {

struct Part {
  Dtype storage;
  std::uint64_t seed;
};

/// All runs in one format.
struct Curve {
  Dtype storage;
  std::vector<FreeRun> runs;
  Mean exponent{};  // of the drift against the number of windows, over the runs

  std::vector<double> at(std::vector<double> FreeRun::*series, std::size_t window) const {
    std::vector<double> values;
    for (const FreeRun& run : runs) values.push_back((run.*series)[window]);
    return values;
  }
  std::size_t windows() const { return runs.empty() ? 0 : runs.front().drift.size(); }
};

double highest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
double lowest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

std::vector<double> windows_from_one(std::size_t count) {
  std::vector<double> windows;
  for (std::size_t w = 1; w <= count; ++w) windows.push_back(static_cast<double>(w));
  return windows;
}

std::vector<Curve> curves_of(const std::vector<Part>& parts, const std::vector<Numbers>& answers) {
  std::vector<Curve> curves;
  for (const Dtype storage : storage_formats()) {
    Curve curve{storage, {}};
    std::vector<double> slopes;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].storage != storage || answers[i].empty()) continue;
      curve.runs.push_back(FreeRun::of(answers[i]));
      slopes.push_back(fit_power(windows_from_one(curve.windows()), curve.runs.back().drift).slope);
    }
    curve.exponent = mean_of(slopes);
    if (!curve.runs.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

/// Median, lowest and highest over the runs, by window.
StudySeries series_of(const Curve& curve, std::vector<double> FreeRun::*series) {
  StudySeries out{std::string(name_of(curve.storage)), windows_from_one(curve.windows()), {}, {}, {}};
  for (std::size_t w = 0; w < curve.windows(); ++w) {
    const auto values = curve.at(series, w);
    out.y.push_back(median(values)), out.low.push_back(lowest(values)), out.high.push_back(highest(values));
  }
  return out;
}

void show_plots(Study& study, const std::vector<Curve>& curves) {
  const std::pair<const char*, std::vector<double> FreeRun::*> shown[] = {
      {"Drift of the parameters, free running", &FreeRun::drift},
      {"Drift beside the distance travelled", &FreeRun::distance},
      {"Worst r of each window's stages", &FreeRun::local}};
  const char* up[] = {"\u2016subject \u2212 exact\u2016 / \u2016exact\u2016",
                      "\u2016subject \u2212 exact\u2016 / \u2016exact \u2212 first\u2016",
                      "r = error / bound, limit 1"};
  for (std::size_t i = 0; i < std::size(shown); ++i) {
    const bool certificate = shown[i].second == &FreeRun::local;
    StudyPlot plot{shown[i].first, "windows", up[i], !certificate, !certificate, {}};
    for (const Curve& curve : curves) plot.series.push_back(series_of(curve, shown[i].second));
    study.plots.push_back(std::move(plot));
  }
}

void show_exponents(Study& study, const std::vector<Curve>& curves) {
  StudyTable table{
      "Exponent of the drift against the number of windows",
      "Fitted to each run; mean over the runs with Student's interval, as points of one run share its past.",
      {{"Format", {}, {}},
       {"Runs", {}, {}},
       {"Windows", {}, {}},
       {"Exponent", {}, {}},
       {"95 % from", {}, {}},
       {"to", {}, {}},
       {"Drift after the first", {}, {}},
       {"after the last", {}, {}},
       {"Worst r of any stage", {}, {}},
       {"Skipped", {}, {}}}};
  for (const Curve& curve : curves) {
    double worst = 0, skipped = 0;
    for (const FreeRun& run : curve.runs) worst = std::max(worst, highest(run.local)), skipped += run.skipped;
    table.columns[0].words.emplace_back(name_of(curve.storage));
    const double cells[] = {static_cast<double>(curve.runs.size()),
                            static_cast<double>(curve.windows()),
                            curve.exponent.value,
                            curve.exponent.interval.low,
                            curve.exponent.interval.high,
                            median(curve.at(&FreeRun::drift, 0)),
                            median(curve.at(&FreeRun::drift, curve.windows() - 1)),
                            worst,
                            skipped};
    for (std::size_t k = 0; k < std::size(cells); ++k) table.columns[k + 1].numbers.push_back(cells[k]);
  }
  study.tables.push_back(std::move(table));
}

void show_windows(Study& study, const std::vector<Curve>& curves) {
  StudyTable table{"Every window", "Medians over the runs; r: worst of them.", {{"Window", {}, {}}}};
  for (const Curve& curve : curves) {
    const std::string format(name_of(curve.storage));
    StudyColumn drift{format + " drift", {}, {}}, distance{"beside distance", {}, {}}, local{"worst r", {}, {}};
    for (std::size_t w = 0; w < curve.windows(); ++w) {
      drift.numbers.push_back(median(curve.at(&FreeRun::drift, w)));
      distance.numbers.push_back(median(curve.at(&FreeRun::distance, w)));
      local.numbers.push_back(highest(curve.at(&FreeRun::local, w)));
    }
    table.columns[0].numbers = windows_from_one(curve.windows());
    for (const StudyColumn& column : {drift, distance, local}) table.columns.push_back(column);
  }
  study.tables.push_back(std::move(table));
}

std::string answer_of(const std::vector<Curve>& curves) {
  if (curves.empty()) return "Nothing was measured.";
  std::string text;
  double worst = 0;
  for (const Curve& curve : curves) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(curve.storage)) + " " +
            three_digits(median(curve.at(&FreeRun::drift, curve.windows() - 1))) + " as steps to the power " +
            exponent_text(curve.exponent);
    for (const FreeRun& run : curve.runs) worst = std::max(worst, highest(run.local));
  }
  return "After " + std::to_string(curves.front().windows()) + " windows the parameters have drifted by " + text +
         "; judged on its own input bits, every stage of every window has r = error / bound of at most " +
         three_digits(worst) + ", limit 1.";
}

void settle(Study& study, const std::vector<Curve>& curves) {
  double failing = 0;
  for (const Curve& curve : curves) {
    for (const FreeRun& run : curve.runs) failing += run.failing;
  }
  study.status = curves.empty() ? Status::not_run : failing > 0 ? Status::fail : Status::pass;
  if (curves.empty()) study.message = "Nothing ran.";
  if (failing > 0) study.message = three_digits(failing) + " checks of single stages failed.";
}

Study run_sweep(const StudyOptions& options) {
  const std::size_t windows = std::min<std::size_t>(scaled(options, 28, 4), 28);
  std::vector<Part> parts;
  for (const Dtype storage : storage_formats()) {
    for (std::size_t draw = 0; draw < scaled(options, 6, 2); ++draw) parts.push_back({storage, options.seed + draw});
  }
  const auto answers = run_jobs(
      options, parts.size(),
      [&](std::size_t i) {
        return free_run(steps_case(parts[i].storage, windows, parts[i].seed), options.subject).numbers();
      },
      [&](std::size_t i) { return std::string(name_of(parts[i].storage)) + ", run " + std::to_string(i + 1); });
  const auto curves = curves_of(parts, answers);
  Study study;
  study.answer = answer_of(curves);
  show_plots(study, curves);
  show_exponents(study, curves);
  show_windows(study, curves);
  study.notes.push_back(
      "The handwritten digits, 64-32-10 with layer norm and momentum, windows of 64 rows in four micro-batches; runs "
      "differ in their first weights. Bars: lowest and highest run.");
  study.notes.push_back(
      "Free running: the exact trajectory starts from the same bits and never sees the subject again; it is evaluated "
      "in long double, 2^-64. Each window's certificate starts from the subject's own bits instead, so it does not "
      "grow.");
  study.notes.push_back(
      "A ReLU that falls on the other side than in the exact run turns its rounding into a jump of the drift; from "
      "there on "
      "the two trainings differ by a decision, and the exponent of a power law says little.");
  settle(study, curves);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "steps",
    .question = "How does the drift of the parameters grow over the steps of a training?",
    .run = run_sweep,
}};

}  // namespace
}  // namespace tally::steps_study
