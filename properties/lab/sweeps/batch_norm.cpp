// Sweep: the semantic gap that BatchNorm opens. Each micro-batch is normalised by its own statistics, so the
// accumulated gradient is another function of the batch, by much more than any rounding; statistics of the window,
// frozen ones and LayerNorm leave no gap at all.
#include <cmath>

#include "oracle/exact/answer.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally::batch_norm_study {
namespace {

constexpr std::int64_t batch = 64, fixed_rows = 8, largest_k = 256;
constexpr double resolution = 0x1p-50;  // of a long double evaluation; what is below is its own rounding
const char* const norm_titles[] = {"BatchNorm per micro-batch", "BatchNorm, window", "BatchNorm, frozen", "LayerNorm"};

Case cut(const ExactProblem& problem, std::int64_t rows) {
  return in_windows(exact_case(problem), 1, problem.rows / rows, rows);
}

class BatchNormSweep {
 public:
  BatchNormSweep(RowSource source, const StudyOptions& options, Study& study)
      : options_(options), study_(study), draws_(std::max(1, static_cast<int>(4 * options.effort))) {
    problem_ = {.source = source, .rows = batch, .seed = options.seed, .hidden = layers_with("micro_batch")};
    title_ = title_of(problem_);
  }

  void gaps();
  void drifts();
  void running_values();
  void growing_batch();
  void certify();
  /// BatchNorm per micro-batch, in micro-batches of that many rows.
  double gap(std::int64_t rows) const { return gap_.at(rows); }
  double drift(Dtype storage, std::int64_t rows) const { return drift_.at(storage).at(rows); }

 private:
  ExactProblem problem(const std::string& norm, int draw = 0) const {
    ExactProblem made = problem_;
    made.hidden = layers_with(norm);
    made.seed += static_cast<std::uint64_t>(draw);
    return made;
  }
  void demand(bool holds, const std::string& sentence) { tally::demand(study_, holds, title_ + ": " + sentence); }
  void demand_gap(const std::string& norm, std::int64_t rows, double gap) {
    const bool none = norm != "micro_batch" || rows == batch;
    demand(none ? gap == 0 : gap > 0, norm + ", micro-batches of " + std::to_string(rows) + ": the gap is " +
                                          three_digits(gap) + ", expected " + (none ? "0" : "more than 0"));
  }

  const StudyOptions& options_;
  Study& study_;
  int draws_;
  ExactProblem problem_;
  std::string title_;
  std::map<std::int64_t, double> gap_;  // by rows
  std::map<Dtype, std::map<std::int64_t, double>> drift_;
};

void BatchNormSweep::gaps() {
  StudyTable table{"Exact gap of the gradient, " + title_,
                   "Accumulated less full batch, relative; root mean square over " + std::to_string(draws_) +
                       " draws of " + std::to_string(batch) + " rows. No rounding is in it.",
                   {{"rows per micro-batch", {}, {}}, {"K", {}, {}}}};
  StudySeries series{std::string("exact gap, ") + norm_titles[0], {}, {}, {}, {}};
  for (const char* name : norm_titles) table.columns.push_back({name, {}, {}});
  for (std::int64_t rows = 2; rows <= batch; rows *= 2) {
    table.columns[0].numbers.push_back(static_cast<double>(rows));
    table.columns[1].numbers.push_back(static_cast<double>(batch / rows));
    for (std::size_t i = 0; i < sweep_norms().size(); ++i) {
      Spread spread;
      for (int draw = 0; draw < draws_; ++draw) {
        spread.add(norm_gap(cut(problem(sweep_norms()[i], draw), rows)).gradient);
        demand_gap(sweep_norms()[i], rows, i == 0 ? spread.low() : spread.high());
      }
      table.columns[i + 2].numbers.push_back(spread.rms());
      if (i > 0) continue;
      gap_[rows] = spread.rms();
      if (rows == batch) continue;  // no gap, no place on a logarithmic axis
      series.x.push_back(static_cast<double>(rows)), series.y.push_back(spread.rms());
      series.low.push_back(spread.low()), series.high.push_back(spread.high());
    }
  }
  const Fit fit = fit_power({series.x.begin() + 1, series.x.end()}, {series.y.begin() + 1, series.y.end()});
  table.note += " From 4 rows on it goes as the rows to the power " + exponent_text(fit) + ".";
  study_.tables.push_back(std::move(table));
  study_.plots.push_back({"Exact gap and rounding drift of the gradient, " + title_,
                          "rows per micro-batch",
                          "relative to the full batch's gradient",
                          true,
                          true,
                          {std::move(series)}});
}

void BatchNormSweep::drifts() {
  StudyTable table{
      "Rounding drift of the subject beside the gap, " + title_,
      "Distance to the exact accumulated gradient, relative, with its bound; the first draw. A bound of 1 or more "
      "says nothing.",
      {{"rows per micro-batch", {}, {}}}};
  StudyPlot& plot = study_.plots.back();
  std::vector<std::vector<StudyColumn>> columns;
  for (const std::string& norm : {std::string("micro_batch"), std::string("layer_norm")}) {
    for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
      const std::string name =
          std::string(norm == "layer_norm" ? "LayerNorm, " : "BatchNorm, ") + std::string(name_of(storage));
      StudySeries series{"rounding, " + name, {}, {}, {}, {}};
      StudyColumn drift{name, {}, {}}, bound{name + ", bound", {}, {}};
      for (std::int64_t rows = 2; rows <= batch; rows *= 2) {
        ExactProblem stored = problem(norm);
        stored.storage = storage;
        Case c = cut(stored, rows);
        if (storage == Dtype::fp16) c.recipe.loss_scale = choice("loss_scale", "static", {{"scale", Decimal{"1024"}}});
        const NormDrift found = norm_drift(c, options_.subject);
        demand(found.rounding <= found.bound, name + ", micro-batches of " + std::to_string(rows) + ": the drift " +
                                                  three_digits(found.rounding) + " exceeds its bound " +
                                                  three_digits(found.bound));
        drift.numbers.push_back(found.rounding), bound.numbers.push_back(found.bound);
        series.x.push_back(static_cast<double>(rows)), series.y.push_back(found.rounding);
        if (norm == "micro_batch") drift_[storage][rows] = found.rounding;
      }
      columns.push_back({std::move(drift), std::move(bound)});
      if (norm == "micro_batch") plot.series.push_back(std::move(series));
    }
  }
  for (std::int64_t rows = 2; rows <= batch; rows *= 2) {
    table.columns[0].numbers.push_back(static_cast<double>(rows));
  }
  for (auto& pair : columns) {
    for (StudyColumn& column : pair) table.columns.push_back(std::move(column));
  }
  study_.tables.push_back(std::move(table));
}

void BatchNormSweep::running_values() {
  StudyTable table{"Running statistics after the window, " + title_,
                   "Gap to the full batch, relative; root mean square over the draws. K updates with momentum 0.1 move "
                   "them by 1 - 0.9^K of the way, one update by 0.1; with momentum 1 - 0.9^(1/K) both move as far.",
                   {{"rows per micro-batch", {}, {}},
                    {"K", {}, {}},
                    {"share of the way", {}, {}},
                    {"mean", {}, {}},
                    {"variance", {}, {}},
                    {"mean, momentum shared", {}, {}},
                    {"variance, momentum shared", {}, {}}}};
  for (std::int64_t rows = 2; rows <= batch; rows *= 2) {
    Spread mean, var, shared_mean, shared_var;
    for (int draw = 0; draw < draws_; ++draw) {
      const Case c = cut(problem("micro_batch", draw), rows);
      const NormGap plain = norm_gap(c), shared = norm_gap_with_shared_momentum(c);
      mean.add(plain.running_mean), var.add(plain.running_var);
      shared_mean.add(shared.running_mean), shared_var.add(shared.running_var);
      for (const char* norm : {"window", "frozen"}) {
        const NormGap none = norm_gap(cut(problem(norm, draw), rows));
        demand(none.running_mean == 0 && none.running_var == 0, std::string(norm) + ": running values differ");
      }
    }
    const auto k = static_cast<double>(batch / rows);
    const double row[] = {static_cast<double>(rows), k, 1 - std::pow(0.9, k), mean.rms(), var.rms(), shared_mean.rms(),
                          shared_var.rms()};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
  }
  study_.tables.push_back(std::move(table));
}

void BatchNormSweep::growing_batch() {
  StudyTable table{
      "More micro-batches of 8 rows, " + title_,
      "Gap to the full batch of 8 K rows; root mean square over the draws. What is noise averages out as "
      "K grows, what is bias does not.",
      {{"K", {}, {}}, {"gap of the gradient", {}, {}}, {"smallest draw", {}, {}}, {"largest draw", {}, {}}}};
  StudySeries series{std::string("exact gap, ") + norm_titles[0], {}, {}, {}, {}};
  for (std::int64_t k = 2; k <= largest_k; k *= 2) {
    Spread spread;
    for (int draw = 0; draw < draws_; ++draw) {
      ExactProblem longer = problem("micro_batch", draw);
      longer.rows = k * fixed_rows;
      spread.add(norm_gap(cut(longer, fixed_rows)).gradient);
    }
    const double row[] = {static_cast<double>(k), spread.rms(), spread.low(), spread.high()};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
    series.x.push_back(row[0]), series.y.push_back(row[1]), series.low.push_back(row[2]), series.high.push_back(row[3]);
  }
  study_.tables.push_back(std::move(table));
  study_.plots.push_back({"Exact gap with more micro-batches of 8 rows, " + title_,
                          "micro-batches in a window, K",
                          "gap, relative to the full batch's gradient",
                          true,
                          true,
                          {std::move(series)}});
}

/// The same at two precisions beyond 100 digits: zero is zero there, and the gap the same number.
void BatchNormSweep::certify() {
  for (const std::string& norm : sweep_norms()) {
    const std::int64_t rows = fixed_rows;
    const Case c = cut(problem(norm), rows);
    const double certified = oracle::first_gradient_gap(c), found = norm_gap(c).gradient;
    demand_gap(norm, rows, certified);
    demand(std::abs(certified - found) <= resolution * certified,
           norm + ": the gap " + three_digits(found) + " is certified as " + three_digits(certified));
  }
}

/// One number for every problem, in the order of the tables.
struct Answer {
  std::vector<double> of_8, of_32, fp32, fp16;
  std::string text() const {
    return "On drawn data and on digits, cutting 64 rows into micro-batches of 8 changes the gradient through "
           "BatchNorm "
           "by " +
           listed(of_8) + " of its size, into micro-batches of 32 by " + listed(of_32) + "; rounding changes it by " +
           listed(fp32) + " in fp32 and " + listed(fp16) + " in fp16.";
  }
};

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  Answer answer;
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    if (options.interrupted != nullptr && options.interrupted->load()) return study;
    options.progress(source == RowSource::digits ? "digits" : "drawn data");
    BatchNormSweep sweep(source, options, study);
    sweep.gaps();
    sweep.drifts();
    sweep.running_values();
    if (source == RowSource::drawn) {
      sweep.growing_batch();
      sweep.certify();
    }
    answer.of_8.push_back(sweep.gap(8));
    answer.of_32.push_back(sweep.gap(32));
    answer.fp32.push_back(sweep.drift(Dtype::fp32, 8));
    answer.fp16.push_back(sweep.drift(Dtype::fp16, 8));
  }
  study.answer = answer.text();
  if (study.status == Status::pass) {
    study.answer += " Statistics of the window, frozen statistics and LayerNorm leave a gap of exactly 0.";
  }
  study.notes = {
      "Linear 16, norm, tanh, linear; cross-entropy; values of x are those of fp16 in every format, so that "
      "all formats share one exact answer. fp16 runs under the loss scale 1024.",
      "Gaps are evaluated in long double; for the first draw of drawn data, micro-batches of 8, they are "
      "certified at two precisions of more than 100 digits.",
      "A gap of exactly 0 is left out of the logarithmic plots."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "batch_norm",
    .question = "How far is BatchNorm's accumulated gradient from the full batch's, and how much of that is rounding?",
    .run = run,
}};

}  // namespace
}  // namespace tally::batch_norm_study
