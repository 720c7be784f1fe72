// Sweep: drift against K, the number of micro-batches, at the same rows; and of the accumulate stage alone.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/accumulate.hpp"
#include "properties/lab/sweeps/drift.hpp"

// How the accumulate stage's curves are shown.
namespace tally {
namespace {

std::string buffer_text(const BufferCurve& curve) {
  return std::string(name_of(curve.rounding)) + " " + std::string(name_of(curve.kind));
}

const char* signs_text(Signs signs) { return signs == Signs::same ? "one sign" : "either sign"; }

StudyPlot plot_of(const std::vector<BufferCurve>& curves, Signs signs, std::size_t lanes) {
  StudyPlot plot{std::string("Accumulate alone, addends of ") + signs_text(signs),
                 "K, addends",
                 "drift: \u2016buffer \u2212 exact\u2016 / \u2016exact\u2016",
                 true,
                 true,
                 {}};
  for (const BufferCurve& curve : curves) {
    if (curve.signs != signs) continue;
    StudySeries series{buffer_text(curve), curve.addends, curve.drift, {}, {}};
    for (const double drift : curve.drift) {
      const Interval interval = root_mean_square_interval(drift, lanes);
      series.low.push_back(interval.low);
      series.high.push_back(interval.high);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

const char* verdict_text(const Interval& exponent) {
  if (exponent.high < 0.5) return "slower than unbiased";
  if (exponent.high < 1) return exponent.low > 0.5 ? "between unbiased and biased" : "unbiased";
  return exponent.low > 0.5 ? "biased" : "cannot tell";
}

StudyTable exponents(const std::vector<BufferCurve>& curves) {
  StudyColumn format{"Format", {}, {}}, kind{"Buffer", {}, {}}, signs{"Addends", {}, {}},
      last{"Fitted up to K", {}, {}}, slope{"Exponent", {}, {}}, low{"95 % from", {}, {}}, high{"to", {}, {}},
      drift{"Drift there", {}, {}}, verdict{"Says", {}, {}};
  for (const BufferCurve& curve : curves) {
    const std::size_t end = curve.fitted;
    format.words.emplace_back(name_of(curve.rounding));
    kind.words.emplace_back(name_of(curve.kind));
    signs.words.emplace_back(signs_text(curve.signs));
    last.numbers.push_back(end > 0 ? curve.addends[end - 1] : 0);
    slope.numbers.push_back(curve.fit.slope);
    low.numbers.push_back(curve.fit.interval.low);
    high.numbers.push_back(curve.fit.interval.high);
    drift.numbers.push_back(end > 0 ? curve.drift[end - 1] : 0);
    verdict.words.emplace_back(verdict_text(curve.fit.interval));
  }
  return {
      "Exponent of drift against K, accumulate alone",
      "Fitted over every K from 16 on at which the plain buffer loses no addend. Unbiased rounding gives 1/2, a biased "
      "one 1; a dash: too few points.",
      {format, kind, signs, last, slope, low, high, drift, verdict}};
}

StudyTable drifts(const std::vector<BufferCurve>& curves, Signs signs) {
  StudyTable table{std::string("Drift of the accumulate stage alone, addends of ") + signs_text(signs),
                   "Relative 2-norm over all sums of the same K.",
                   {{"K", {}, {}}}};
  for (const BufferCurve& curve : curves) {
    if (curve.signs != signs) continue;
    table.columns[0].numbers = curve.addends;
    table.columns.push_back({buffer_text(curve), {}, curve.drift});
  }
  return table;
}

}  // namespace

void show_buffer_curves(Study& study, const std::vector<BufferCurve>& curves, std::size_t lanes) {
  study.tables.push_back(exponents(curves));
  for (const Signs signs : {Signs::random, Signs::same}) {
    study.plots.push_back(plot_of(curves, signs, lanes));
    study.tables.push_back(drifts(curves, signs));
  }
  study.notes.push_back(
      "Accumulate alone: every operation is rounded once in its format on the host; the exact sum is exact. " +
      std::to_string(lanes) +
      " sums for each K, with new addends for each, so that the points are independent; bars hold 95 % of where the "
      "true root mean square of normal errors lies.");
  study.notes.push_back(
      "Stagnation: an addend below half an ulp of the sum is lost whole. From the first K at which the plain buffer "
      "loses one, the drift follows another law and is not fitted; nor are the compensated buffers of that format.");
  study.notes.push_back(
      "A pairwise buffer keeps a partial sum for every power of two; a Kahan buffer keeps one compensation in the same "
      "format.");
}

}  // namespace tally

namespace tally::micro_batches_study {
namespace {

constexpr std::int64_t rows = 64;

struct Part {
  const SweepProblem* problem;
  Dtype storage;
  std::int64_t micro_batches;
  std::uint64_t seed;
};

/// The median over seeds of one problem in one format, by K.
struct Curve {
  const SweepProblem* problem;
  Dtype storage;
  std::vector<double> k, gap, rounding, bound;
};

bool equals_full_batch(const SweepProblem& problem) { return !problem.name.starts_with("batch_norm"); }

std::vector<Part> parts_of(const StudyOptions& options) {
  std::vector<Part> parts;
  for (const SweepProblem& problem : sweep_problems()) {
    const std::int64_t most = equals_full_batch(problem) ? rows : rows / 2;  // statistics need two rows
    for (const Dtype storage : storage_formats()) {
      for (std::int64_t k = 1; k <= most; k *= 2) {
        for (std::size_t draw = 0; draw < scaled(options, 3, 1); ++draw) {
          parts.push_back({&problem, storage, k, options.seed + draw});
        }
      }
    }
  }
  return parts;
}

std::vector<Curve> curves_of(const std::vector<Part>& parts, const std::vector<Numbers>& answers) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < parts.size();) {
    const Part& part = parts[i];
    if (curves.empty() || curves.back().problem != part.problem || curves.back().storage != part.storage)
      curves.push_back({part.problem, part.storage, {}, {}, {}, {}});
    std::vector<double> gap, rounding, bound;
    const std::int64_t k = part.micro_batches;
    for (; i < parts.size() && parts[i].micro_batches == k && parts[i].storage == part.storage; ++i) {
      if (answers[i].empty()) continue;
      const WindowDrift drift = WindowDrift::of(answers[i]);
      gap.push_back(drift.semantic_gap), rounding.push_back(drift.rounding), bound.push_back(drift.bound);
    }
    if (gap.empty()) continue;
    Curve& curve = curves.back();
    curve.k.push_back(static_cast<double>(k));
    curve.gap.push_back(median(gap)), curve.rounding.push_back(median(rounding)), curve.bound.push_back(median(bound));
  }
  return curves;
}

/// One plot a problem: rounding drift and bound by format, and the semantic gap where there is one.
void show_plots(Study& study, const std::vector<Curve>& curves) {
  for (const SweepProblem& problem : sweep_problems()) {
    StudyPlot plot{"Whole window: " + problem.name,
                   "K, micro-batches of the same " + std::to_string(rows) + " rows",
                   "gradient, relative 2-norm",
                   true,
                   true,
                   {}};
    StudySeries gap{"semantic gap", {}, {}, {}, {}};
    std::vector<StudySeries> bounds;
    for (const Curve& curve : curves) {
      if (curve.problem != &problem) continue;
      const std::string format(name_of(curve.storage));
      plot.series.push_back({format + " rounding drift", curve.k, curve.rounding, {}, {}});
      bounds.push_back({format + " bound", curve.k, curve.bound, {}, {}});
      if (curve.storage == Dtype::fp32) gap.x = curve.k, gap.y = curve.gap;
    }
    plot.series.insert(plot.series.end(), bounds.begin(), bounds.end());
    if (!equals_full_batch(problem)) plot.series.push_back(std::move(gap));
    study.plots.push_back(std::move(plot));
  }
}

void show_table(Study& study, const std::vector<Curve>& curves) {
  StudyTable table{
      "Whole window at the same " + std::to_string(rows) + " rows",
      "Median over seeds. Not monotone in K: each cut also changes how the GEMMs sum; reported, not fitted.",
      {{"Problem", {}, {}},
       {"Format", {}, {}},
       {"K", {}, {}},
       {"Semantic gap", {}, {}},
       {"Rounding drift", {}, {}},
       {"Bound", {}, {}},
       {"Drift / bound", {}, {}}}};
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.k.size(); ++i) {
      table.columns[0].words.push_back(curve.problem->name);
      table.columns[1].words.emplace_back(name_of(curve.storage));
      table.columns[2].numbers.push_back(curve.k[i]);
      table.columns[3].numbers.push_back(curve.gap[i]);
      table.columns[4].numbers.push_back(curve.rounding[i]);
      table.columns[5].numbers.push_back(curve.bound[i]);
      table.columns[6].numbers.push_back(curve.rounding[i] / curve.bound[i]);
    }
  }
  study.tables.push_back(std::move(table));
}

std::string window_sentence(const std::vector<Curve>& curves) {
  std::string text;
  for (const Curve& curve : curves) {
    if (curve.problem != &sweep_problems().front() || curve.k.empty()) continue;
    const auto [least, most] = std::minmax_element(curve.rounding.begin(), curve.rounding.end());
    text += (text.empty() ? "" : ", ") + std::string(name_of(curve.storage)) + " " + three_digits(*least) + " to " +
            three_digits(*most);
  }
  return text.empty() ? ""
                      : " Cutting " + std::to_string(rows) + " rows into 1 to " + std::to_string(rows) +
                            " micro-batches, the whole window's gradient drifts by " + text + ".";
}

void settle(Study& study, const BufferCurve& judged, std::size_t outside) {
  study.status = bias_verdict(judged.fit);
  if (study.status == Status::fail) {
    study.message = "The plain fp32 buffer's exponent excludes 1/2 and reaches 1: its rounding is biased.";
  } else if (study.status == Status::vacuous) {
    study.message = "The interval of the exponent is too wide to tell unbiased rounding from biased.";
  }
  if (outside > 0) {
    study.status = Status::fail;
    study.message = std::to_string(outside) + " whole windows drift beyond their bound. " + study.message;
  }
}

Study run_sweep(const StudyOptions& options) {
  Study study;
  const auto parts = parts_of(options);
  const auto answers = run_jobs(
      options, parts.size(),
      [&](std::size_t i) {
        const Part& part = parts[i];
        const Case c = sweep_case(*part.problem, part.storage, rows, part.micro_batches, part.seed);
        return window_drift(c, options.subject).numbers();
      },
      [&](std::size_t i) {
        return parts[i].problem->name + ", " + std::string(name_of(parts[i].storage)) +
               ", K = " + std::to_string(parts[i].micro_batches);
      });
  const auto outside = static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), [](const Numbers& found) {
    return !found.empty() && !WindowDrift::of(found).within_bound();
  }));
  const auto curves = curves_of(parts, answers);
  const auto buffers = buffer_curves(options);
  const BufferCurve& judged = curve_of(buffers, Rounding::fp32, Signs::random, BufferKind::plain);
  show_buffer_curves(study, buffers, lanes_of(options));
  show_plots(study, curves);
  show_table(study, curves);
  study.answer = "Alone, a plain fp32 buffer drifts as K to the power " + exponent_text(judged.fit) +
                 " with addends of either sign, where unbiased rounding gives 1/2 and a bias 1." +
                 window_sentence(curves);
  settle(study, judged, outside);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "micro_batches",
    .question = "How does the drift grow with the number of micro-batches?",
    .run = run_sweep,
}};

}  // namespace
}  // namespace tally::micro_batches_study
