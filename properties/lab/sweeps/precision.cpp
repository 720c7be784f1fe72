// Sweep: the same cases in every storage format, and the stages that their drift comes from.
#include <algorithm>
#include <cmath>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally::precision_study {
namespace {

constexpr std::int64_t rows = 32, micro_batches = 4;

struct Part {
  const SweepProblem* problem;
  Dtype storage;
  std::uint64_t seed;
};

struct Found {
  WindowDrift drift;
  double failing = 0;                 // local checks
  std::vector<StageRounding> stages;  // as rounding_stages()

  Numbers numbers() const {
    Numbers all = drift.numbers();
    all.push_back(failing);
    for (const StageRounding& stage : stages)
      all.insert(all.end(), {stage.worst_ratio, stage.ulps, stage.relative_error});
    return all;
  }
  static Found of(const Numbers& all) {
    Found found{WindowDrift::of(all), all.at(3), {}};
    for (std::size_t i = 4; i + 2 < all.size(); i += 3) found.stages.push_back({all[i], all[i + 1], all[i + 2]});
    return found;
  }
};

Found measured(const Part& part, const RunOptions& subject) {
  const Case c = sweep_case(*part.problem, part.storage, rows, micro_batches, part.seed);
  const Trace trace = run(c, subject);
  const auto local = local_lens(c, trace);
  Found found{window_drift(c, trace), 0, {}};
  found.failing = static_cast<double>(
      std::count_if(local.begin(), local.end(), [](const TensorCheck& check) { return check.status == Status::fail; }));
  const auto stages = stage_roundings(trace, local);
  for (const std::string& stage : rounding_stages())
    found.stages.push_back(stages.contains(stage) ? stages.at(stage) : StageRounding{});
  return found;
}

/// All that was found of one format; of one problem unless it is null.
std::vector<Found> those_of(const std::vector<Part>& parts, const std::vector<Numbers>& answers, Dtype storage,
                            const SweepProblem* problem = nullptr) {
  std::vector<Found> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].storage != storage || answers[i].empty()) continue;
    if (problem == nullptr || parts[i].problem == problem) found.push_back(Found::of(answers[i]));
  }
  return found;
}

double median_of(const std::vector<Found>& found, double WindowDrift::*part) {
  std::vector<double> values;
  for (const Found& each : found) values.push_back(each.drift.*part);
  return median(values);
}

StageRounding worst_of(const std::vector<Found>& found, std::size_t stage) {
  StageRounding worst;
  for (const Found& each : found) {
    const StageRounding& here = each.stages[stage];
    if (here.worst_ratio > worst.worst_ratio) worst.worst_ratio = here.worst_ratio, worst.ulps = here.ulps;
    worst.relative_error = std::max(worst.relative_error, here.relative_error);
  }
  return worst;
}

double roundoff(Dtype storage) { return oracle::format_of(storage).unit_roundoff(); }

struct Sweep {
  const std::vector<Part>& parts;
  const std::vector<Numbers>& answers;
};

Fit fit_over_roundoff(const Sweep& sweep, const SweepProblem* problem) {
  std::vector<double> u, drift;
  for (std::size_t i = 0; i < sweep.parts.size(); ++i) {
    if (sweep.answers[i].empty() || (problem != nullptr && sweep.parts[i].problem != problem)) continue;
    u.push_back(roundoff(sweep.parts[i].storage));
    drift.push_back(Found::of(sweep.answers[i]).drift.rounding);
  }
  return fit_power(u, drift);
}

void show_drift(Study& study, const Sweep& sweep) {
  StudyPlot plot{"Drift against the storage format",
                 "u, unit roundoff: fp32 2^-24, fp16 2^-11, bf16 2^-8",
                 "gradient, relative 2-norm",
                 true,
                 true,
                 {}};
  StudyTable table{"Drift by problem and format",
                   "Medians over seeds. The exponent is that of the rounding drift against u over all seeds.",
                   {{"Problem", {}, {}},
                    {"Format", {}, {}},
                    {"Semantic gap", {}, {}},
                    {"Rounding drift", {}, {}},
                    {"In u", {}, {}},
                    {"Bound", {}, {}},
                    {"Exponent against u", {}, {}},
                    {"95 % from", {}, {}},
                    {"to", {}, {}}}};
  for (const SweepProblem& problem : sweep_problems()) {
    const Fit fit = fit_over_roundoff(sweep, &problem);
    StudySeries drift{problem.name + " rounding drift", {}, {}, {}, {}}, bound{problem.name + " bound", {}, {}, {}, {}},
        gap{problem.name + " semantic gap", {}, {}, {}, {}};
    for (const Dtype storage : storage_formats()) {
      const auto found = those_of(sweep.parts, sweep.answers, storage, &problem);
      if (found.empty()) continue;
      const double values[] = {median_of(found, &WindowDrift::semantic_gap), median_of(found, &WindowDrift::rounding),
                               median_of(found, &WindowDrift::bound)};
      for (StudySeries* series : {&drift, &bound, &gap}) series->x.push_back(roundoff(storage));
      gap.y.push_back(values[0]), drift.y.push_back(values[1]), bound.y.push_back(values[2]);
      table.columns[0].words.push_back(problem.name);
      table.columns[1].words.emplace_back(name_of(storage));
      const double cells[] = {values[0],        values[1],        values[1] / roundoff(storage), values[2], fit.slope,
                              fit.interval.low, fit.interval.high};
      for (std::size_t k = 0; k < std::size(cells); ++k) table.columns[k + 2].numbers.push_back(cells[k]);
    }
    const bool has_gap = std::any_of(gap.y.begin(), gap.y.end(), [](double value) { return value != 0; });
    for (StudySeries* series : {&drift, &bound}) plot.series.push_back(std::move(*series));
    if (has_gap) plot.series.push_back(std::move(gap));
  }
  study.plots.push_back(std::move(plot));
  study.tables.push_back(std::move(table));
}

void show_stages(Study& study, const Sweep& sweep) {
  StudyPlot plot{"Each stage's own rounding",
                 "u, unit roundoff: fp32 2^-24, fp16 2^-11, bf16 2^-8",
                 "worst tensor, relative 2-norm",
                 true,
                 true,
                 {}};
  StudyTable table{"Each stage's own rounding, on its own input bits",
                   "Worst over all problems and seeds: r = error / bound, that element's error in ulps of its format, "
                   "and the largest relative 2-norm of a tensor.",
                   {{"Stage", {}, {}},
                    {"Format", {}, {}},
                    {"Worst r", {}, {}},
                    {"Error there, ulps", {}, {}},
                    {"Error, relative", {}, {}},
                    {"In u", {}, {}}}};
  for (std::size_t stage = 0; stage < rounding_stages().size(); ++stage) {
    StudySeries series{rounding_stages()[stage], {}, {}, {}, {}};
    for (const Dtype storage : storage_formats()) {
      const StageRounding worst = worst_of(those_of(sweep.parts, sweep.answers, storage), stage);
      series.x.push_back(roundoff(storage)), series.y.push_back(worst.relative_error);
      table.columns[0].words.push_back(series.name);
      table.columns[1].words.emplace_back(name_of(storage));
      const double cells[] = {worst.worst_ratio, worst.ulps, worst.relative_error,
                              worst.relative_error / roundoff(storage)};
      for (std::size_t k = 0; k < std::size(cells); ++k) table.columns[k + 2].numbers.push_back(cells[k]);
    }
    plot.series.push_back(std::move(series));
  }
  study.plots.push_back(std::move(plot));
  study.tables.push_back(std::move(table));
}

/// The stage whose worst tensor is furthest from exact, in this format.
std::string leading_stage(const Sweep& sweep, Dtype storage) {
  const auto found = those_of(sweep.parts, sweep.answers, storage);
  std::size_t leading = 0;
  for (std::size_t stage = 1; stage < rounding_stages().size(); ++stage) {
    if (worst_of(found, stage).relative_error > worst_of(found, leading).relative_error) leading = stage;
  }
  return rounding_stages()[leading];
}

/// "forward in every format", or each format with its own stage.
std::string leading_stages(const Sweep& sweep) {
  std::vector<std::string> stages;
  for (const Dtype storage : storage_formats()) stages.push_back(leading_stage(sweep, storage));
  const bool alike = std::all_of(stages.begin(), stages.end(), [&](const auto& stage) { return stage == stages[0]; });
  if (alike) return stages[0] + " in every format";
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i > 0 ? ", " : "") + stages[i] + " in " + std::string(name_of(storage_formats()[i]));
  return text;
}

std::string answer_of(const Sweep& sweep) {
  std::string drifts;
  double gap = 0;
  for (const Dtype storage : storage_formats()) {
    const auto found = those_of(sweep.parts, sweep.answers, storage);
    drifts += (drifts.empty() ? "" : ", ") + three_digits(median_of(found, &WindowDrift::rounding)) + " in " +
              std::string(name_of(storage));
    for (const Found& each : found) gap = std::max(gap, each.drift.semantic_gap);
  }
  return "The gradient's rounding drift is " + drifts + " (medians) and grows as u to the power " +
         exponent_text(fit_over_roundoff(sweep, nullptr)) + ", while the semantic gap, up to " + three_digits(gap) +
         ", does not know the format. The stage that adds most is " + leading_stages(sweep) + ".";
}

void settle(Study& study, const std::vector<Numbers>& answers) {
  std::size_t outside = 0, failing = 0, ran = 0, bounded = 0;
  for (const Numbers& numbers : answers) {
    if (numbers.empty()) continue;
    const Found found = Found::of(numbers);
    ++ran;
    outside += !found.drift.within_bound();
    failing += found.failing != 0;
    bounded += found.drift.bound < 1;
  }
  study.status = ran == 0 ? Status::not_run : outside + failing > 0 ? Status::fail : Status::pass;
  if (ran == 0) study.message = "Nothing ran.";
  if (outside + failing > 0)
    study.message = std::to_string(outside) + " runs drift beyond their bound; in " + std::to_string(failing) +
                    " a stage leaves its own.";
  study.notes.push_back("The end-to-end bound is below 1, and so says something, in " + std::to_string(bounded) +
                        " of " + std::to_string(ran) + " runs; each stage's own bound is judged in all of them.");
}

Study run_sweep(const StudyOptions& options) {
  std::vector<Part> parts;
  for (const SweepProblem& problem : sweep_problems()) {
    for (const Dtype storage : storage_formats()) {
      for (std::size_t draw = 0; draw < scaled(options, 24, 1); ++draw)
        parts.push_back({&problem, storage, options.seed + draw});
    }
  }
  const auto answers = run_jobs(
      options, parts.size(), [&](std::size_t i) { return measured(parts[i], options.subject).numbers(); },
      [&](std::size_t i) { return parts[i].problem->name + ", " + std::string(name_of(parts[i].storage)); });
  const Sweep sweep{parts, answers};
  Study study;
  study.answer = answer_of(sweep);
  show_drift(study, sweep);
  show_stages(study, sweep);
  study.notes.push_back(
      "Every format runs the very same case: inputs have at most eight significant bits, parameters "
      "are fp32. " +
      std::to_string(rows) + " rows in " + std::to_string(micro_batches) +
      " micro-batches; GEMMs add in fp32, buffers and parameters are fp32 in every format.");
  study.notes.push_back(
      "cast, accumulate and unscale are one rounding each, so the lens demands their bits; their "
      "error stands against half an ulp. Tensors that are exactly zero or whose bound exceeds them "
      "are left out.");
  settle(study, answers);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "precision",
    .question = "How does the drift depend on the storage format, and which stage adds it?",
    .run = run_sweep,
}};

}  // namespace
}  // namespace tally::precision_study
