// Sweep: drift against K, the number of micro-batches, at the same rows; and of the accumulate stage alone.
#include <algorithm>
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/studies/jobs.hpp"
#include "properties/studies/sweeps/accumulate_part.hpp"
#include "properties/studies/sweeps/problem.hpp"
#include "properties/studies/sweeps/window_drift.hpp"
#include "properties/studies/wording.hpp"

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

const RegisterStudy registered{{
    .family = "sweep",
    .name = "micro_batches",
    .question = "How does the drift grow with the number of micro-batches?",
    .run = run_sweep,
}};

}  // namespace
}  // namespace tally::micro_batches_study
