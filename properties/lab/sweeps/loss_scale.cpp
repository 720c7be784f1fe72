// Sweep: fp16 gradients under loss scales from 1 to 2^24: what is flushed to zero, what overflows, how far it drifts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/generators/choices.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/scale_curve.hpp"

namespace tally::loss_scale_study {
namespace {

constexpr std::int64_t rows = 32, micro_batches = 4;
constexpr int largest_exponent = 24;

/// Ordinary gradients, gradients behind a batch norm, small gradients.
const std::vector<SweepProblem>& problems() {
  static const std::vector<SweepProblem> chosen{sweep_problems().front(), sweep_problems()[2], small_signals()};
  return chosen;
}

Numbers measured(const ScalePart& part, const StudyOptions& options) {
  SweepProblem scaled_problem = *part.problem;
  const double scale = std::exp2(part.exponent);
  scaled_problem.loss_scale = choice("loss_scale", "dynamic", {{"initial", decimal(scale)}});
  const Case c = sweep_case(scaled_problem, Dtype::fp16, rows, micro_batches, part.seed);
  const Trace trace = run(c, options.subject);
  return stored_gradients(c, trace, scale).numbers();
}

StudySeries window_mark(const std::string& name, const ScaleRange& range, double height) {
  StudySeries mark{name, {}, {}, {}, {}};
  if (!range.empty()) mark.x = {range.from, range.to}, mark.y = {height, height};
  return mark;
}

void show_plots(Study& study, const std::vector<ScaleCurve>& curves) {
  for (const ScaleCurve& curve : curves) {
    StudySeries flushed{"flushed to zero, share of elements", {}, {}, {}, {}},
        subnormal{"subnormal, share", {}, {}, {}, {}}, skipped{"skipped windows, share", {}, {}, {}, {}},
        drift{"rounding drift", {}, {}, {}, {}}, bound{"bound", {}, {}, {}, {}};
    for (const AtScale& at : curve.scales) {
      for (StudySeries* series : {&flushed, &subnormal, &skipped, &drift, &bound}) series->x.push_back(at.scale);
      flushed.y.push_back(at.sum.flushed / at.sum.elements), subnormal.y.push_back(at.sum.subnormal / at.sum.elements);
      skipped.y.push_back(at.sum.skipped / at.runs);
      drift.y.push_back(median(at.rounding)), bound.y.push_back(median(at.bound));
    }
    study.plots.push_back({"Out of range: " + curve.problem->name,
                           "S, loss scale",
                           "share",
                           true,
                           true,
                           {flushed, subnormal, skipped, window_mark("derived safe window (at 1)", curve.derived, 1),
                            window_mark("measured safe window (at 1/2)", curve.measured, 0.5)}});
    study.plots.push_back({"Drift: " + curve.problem->name,
                           "S, loss scale",
                           "gradient of the worst parameter, relative 2-norm",
                           true,
                           true,
                           {drift, bound}});
  }
}

void show_windows(Study& study, const std::vector<ScaleCurve>& curves) {
  StudyTable table{
      "Safe windows of the loss scale",
      "Derived: 2^-14 / least <= S < 65504 / most over the exact unscaled gradients; powers of two. "
      "Measured: no element whose exact value exceeds its bound is stored as zero, subnormal or not finite.",
      {{"Problem", {}, {}},
       {"Least", {}, {}},
       {"Most", {}, {}},
       {"Derived from", {}, {}},
       {"to", {}, {}},
       {"Measured from", {}, {}},
       {"to", {}, {}}}};
  for (const ScaleCurve& curve : curves) {
    table.columns[0].words.push_back(curve.problem->name);
    table.columns[1].numbers.push_back(curve.least), table.columns[2].numbers.push_back(curve.most);
    const double ends[] = {curve.derived.from, curve.derived.to, curve.measured.from, curve.measured.to};
    for (std::size_t k = 0; k < std::size(ends); ++k) {
      const ScaleRange& range = k < 2 ? curve.derived : curve.measured;
      table.columns[k + 3].words.push_back(range.empty() ? "\u2013" : power_of_two_text(ends[k]));
    }
  }
  study.tables.push_back(std::move(table));
}

void show_scales(Study& study, const std::vector<ScaleCurve>& curves) {
  StudyTable table{
      "Every scale",
      "Elements whose exact value is not zero, over all seeds; drift of the worst parameter: median of the windows "
      "that were not skipped.",
      {{"Problem", {}, {}},
       {"S", {}, {}},
       {"Elements", {}, {}},
       {"Flushed to zero", {}, {}},
       {"Subnormal", {}, {}},
       {"Not finite", {}, {}},
       {"Windows skipped", {}, {}},
       {"Rounding drift", {}, {}},
       {"Bound", {}, {}}}};
  for (const ScaleCurve& curve : curves) {
    for (const AtScale& at : curve.scales) {
      table.columns[0].words.push_back(curve.problem->name);
      table.columns[1].words.push_back(power_of_two_text(at.scale));
      const double cells[] = {at.sum.elements, at.sum.flushed,      at.sum.subnormal, at.sum.non_finite,
                              at.sum.skipped,  median(at.rounding), median(at.bound)};
      for (std::size_t k = 0; k < std::size(cells); ++k) table.columns[k + 2].numbers.push_back(cells[k]);
    }
  }
  study.tables.push_back(std::move(table));
}

std::string range_text(const ScaleRange& range) {
  return range.empty() ? "nowhere" : power_of_two_text(range.from) + " to " + power_of_two_text(range.to);
}

double first_drift_inside(const ScaleCurve& curve) {
  for (const AtScale& at : curve.scales) {
    if (curve.derived.holds(at.scale)) return median(at.rounding);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// About the problem with the smallest gradients, and the windows of all.
std::string answer_of(const std::vector<ScaleCurve>& curves) {
  if (curves.empty()) return "Nothing was measured.";
  std::string windows;
  for (const ScaleCurve& curve : curves)
    windows += (windows.empty() ? "" : "; ") + range_text(curve.measured) + " for " + curve.problem->name + " (" +
               range_text(curve.derived) + ")";
  const ScaleCurve& small = curves.back();
  const AtScale& first = small.scales.front();
  return "At scale 1, " + three_digits(100 * (first.sum.flushed + first.sum.subnormal) / first.sum.elements) +
         " % of the smallest fp16 gradients (" + small.problem->name +
         ") are zero or subnormal and the worst parameter's gradient drifts by " +
         three_digits(median(first.rounding)) + ", inside the derived window by " +
         three_digits(first_drift_inside(small)) + ". Safe scales, measured (derived): " + windows + ".";
}

/// Inside the derived window nothing overflows and nothing above its bound is flushed; every stage keeps its bound at
/// every scale.
void settle(Study& study, const std::vector<ScaleCurve>& curves) {
  double failing = 0, lost = 0, outside = 0, judged = 0;
  for (const ScaleCurve& curve : curves) {
    for (const AtScale& at : curve.scales) {
      failing += at.sum.failing;
      for (std::size_t i = 0; i < at.rounding.size(); ++i) outside += !(at.rounding[i] <= at.bound[i]);
      if (!curve.derived.holds(at.scale)) continue;
      ++judged;
      lost += at.sum.vanished + at.sum.non_finite + at.sum.skipped;
    }
  }
  study.status = failing + lost + outside > 0 ? Status::fail : judged > 0 ? Status::pass : Status::vacuous;
  if (study.status == Status::fail)
    study.message = three_digits(lost) + " elements or windows left the range inside the derived window, " +
                    three_digits(failing) + " checks of stages failed, " + three_digits(outside) +
                    " runs drift beyond their bound.";
  if (study.status == Status::vacuous) study.message = "No scale lies inside a derived window: nothing to hold it to.";
}

Study run_sweep(const StudyOptions& options) {
  std::vector<ScalePart> parts;
  for (const SweepProblem& problem : problems()) {
    for (int exponent = 0; exponent <= largest_exponent; ++exponent) {
      for (std::size_t draw = 0; draw < scaled(options, 8, 1); ++draw)
        parts.push_back({&problem, exponent, options.seed + draw});
    }
  }
  const auto answers = run_jobs(
      options, parts.size(), [&](std::size_t i) { return measured(parts[i], options); },
      [&](std::size_t i) { return parts[i].problem->name + ", S = 2^" + std::to_string(parts[i].exponent); });
  const auto curves = scale_curves(parts, answers);
  Study study;
  study.answer = answer_of(curves);
  show_plots(study, curves);
  show_windows(study, curves);
  show_scales(study, curves);
  study.notes.push_back(
      "Stored gradients are those that pass between layers and those of the parameters, of every "
      "micro-batch, in fp16; " +
      std::to_string(rows) + " rows in " + std::to_string(micro_batches) +
      " micro-batches. The scale is dynamic, so a window that overflows is skipped.");
  study.notes.push_back(
      "What is stored below the normal range errs by up to 2^-25 / S instead of a share of itself, so the drift of "
      "small "
      "gradients falls as 1 / S until the window.");
  study.notes.push_back(
      "An element that is smaller than the rounding that reached it may be stored at any size below that; the measured "
      "window leaves it out, while the derived one counts its exact value and so can be the narrower one.");
  settle(study, curves);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "loss_scale",
    .question = "Which loss scales keep fp16 gradients in range, and what does leaving the range cost?",
    .run = run_sweep,
}};

}  // namespace
}  // namespace tally::loss_scale_study
