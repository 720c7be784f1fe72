// How the rounding of a sum over ranks grows with their number.
#include "properties/lab/sweeps/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/ranks/all_reduce.hpp"
#include "kernels/ranks/fibres.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/evidence/cases.hpp"
#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"

namespace tally {
namespace {

/// Where fp32 stands throughout: the figure speaks of its roundings.
Plan plan_of(std::uint64_t seed, int ranks) {
  Plan plan = drawn_plan(Dtype::fp32, seed);
  plan.precision = {};
  plan.execution = {};
  plan.normalisation = Normalisation::window_items;
  plan.empty_micro_batch = false;
  plan.data = Data::ordinary;
  freeze_batch_norm(plan);
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 2)};
  plan.ranks = ranks;
  set_rank_option(plan.execution, "reduce.algorithm", std::string("ring"));
  return plan;
}

bool is_shallow(const Plan& plan) { return std::ranges::count(plan.hidden, "linear", &Layer::kind) < 2; }

bool is_gradient(const TensorCheck& check) {
  return check.lens == "end_to_end" && check.tap.starts_with("w0/") && check.stage == StageName::unscale &&
         check.tap.find("/unscale/d.") != std::string::npos;
}

}  // namespace

HeldGradients gradients_of_ranks(std::uint64_t seed, int ranks, std::uint64_t cases) {
  executor::Schedule random(seed);
  HeldGradients all;
  for (std::uint64_t made = 0; made < cases;) {
    const Plan plan = plan_of(random.next(), ranks);
    if (!is_shallow(plan)) continue;
    ++made;
    const Case c = case_of(plan);
    for (const TensorCheck& check : end_to_end_lens(c, run(c))) {
      if (!is_gradient(check)) continue;
      ++all.gradients;
      all.informative += check.status == Status::pass;
      all.failed += check.status == Status::fail;
    }
  }
  return all;
}

}  // namespace tally

// How the rounding of a sum over ranks grows with their number: every algorithm's own messages and kernels, in one
// process, against the exact sum.
namespace tally::ranks_study {
namespace {

constexpr const char* algorithms[] = {"in_order", "ring", "recursive_doubling", "recursive_halving", "tree"};
constexpr int largest_exponent = 10;

struct Part {
  std::string algorithm;
  Dtype format;
  bool one_sign;
  int ranks;
  std::string text() const {
    return algorithm + ", " + std::string(name_of(format)) + (one_sign ? ", one sign" : ", either sign");
  }
};

/// What every rank brings, rounded to the format.
std::vector<Tensor> drawn(const Part& part, std::int64_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> size(0.5, 1);
  std::vector<Tensor> all;
  for (int rank = 0; rank < part.ranks; ++rank) {
    Tensor& own = all.emplace_back(part.format, std::vector<std::int64_t>{elements});
    for (std::size_t i = 0; i < own.elements(); ++i)
      own.set(i, (part.one_sign || random() % 2 == 0 ? 1 : -1) * size(random));
  }
  return all;
}

/// The sum as rank 0 has it.
Tensor added(const Part& part, const std::vector<Tensor>& addends) {
  Device& on = device(ExecutorKind::host);
  const auto kernel_of_sum = kernel<RankSumArguments>("rank_sum", ExecutorKind::host, "in_format");
  Tensor sum = addends.front();
  run_ranks_on_fibres(part.ranks, 0, [&](Link& link) {
    const Tensor& own = addends[static_cast<std::size_t>(link.rank())];
    Stream stream(on);
    Buffer values(on, "bucket of ranks", part.format, own.elements());
    on.write(values.data(), own.bytes.data(), own.bytes.size());
    Addends bucket(
        link, on, [&](const RankSumArguments& arguments) { kernel_of_sum(stream, arguments); }, "sweep", part.format,
        values.data(), static_cast<std::int64_t>(own.elements()));
    all_reduce(part.algorithm)(bucket);
    if (link.rank() == 0) on.read(values.data(), sum.bytes.data(), sum.bytes.size());
  });
  return sum;
}

/// The larger share; a NaN stays, and is no share of at most 1.
double graver(double worst, double next) { return std::isnan(worst) || next <= worst ? worst : next; }

/// Root mean square of |sum - exact| / sum of magnitudes over the elements, and the largest share of the bound
/// gam(height, u).
Numbers measured(const Part& part, const StudyOptions& options) {
  const std::int64_t elements = std::max<std::int64_t>(part.ranks, 512);
  const std::vector<Tensor> addends =
      drawn(part, elements, options.seed ^ static_cast<std::uint64_t>(part.ranks) << 32);
  const Tensor sum = added(part, addends);
  const double u = oracle::format_of(part.format).unit_roundoff();
  const double bound = oracle::gam(oracle::height_of(oracle::rank_additions(part.algorithm, part.ranks, 0)), u);
  double squares = 0, worst = 0;
  for (std::size_t i = 0; i < sum.elements(); ++i) {
    long double exact = 0, size = 0;
    for (const Tensor& each : addends) {
      exact += each.value(i);
      size += std::fabs(each.value(i));
    }
    const auto off = static_cast<double>(std::fabs(sum.value(i) - exact) / size);
    squares += off * off;
    worst = graver(worst, off / bound);
  }
  return {std::sqrt(squares / static_cast<double>(sum.elements())), worst};
}

std::vector<Part> all_parts() {
  std::vector<Part> parts;
  for (const char* algorithm : algorithms)
    for (const Dtype format : {Dtype::fp32, Dtype::bf16})
      for (const bool one_sign : {true, false})
        for (int exponent = 1; exponent <= largest_exponent; ++exponent)
          parts.push_back({algorithm, format, one_sign, 1 << exponent});
  return parts;
}

struct Curve {
  std::string text;
  std::vector<double> ranks, error;
  double worst = 0;
};

std::vector<Curve> curves_of(const std::vector<Part>& parts, const std::vector<Numbers>& answers) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (answers[i].empty()) continue;
    if (curves.empty() || curves.back().text != parts[i].text()) curves.push_back({parts[i].text(), {}, {}});
    curves.back().ranks.push_back(parts[i].ranks);
    curves.back().error.push_back(answers[i][0]);
    curves.back().worst = graver(curves.back().worst, answers[i][1]);
  }
  return curves;
}

/// What every rank's 1 adds up to in bf16, whose next number behind 256 is 258.
double ones(const std::string& algorithm, int ranks) {
  const Part part{algorithm, Dtype::bf16, true, ranks};
  std::vector<Tensor> addends(static_cast<std::size_t>(ranks), Tensor(Dtype::bf16, {ranks}));
  for (Tensor& each : addends)
    for (std::size_t i = 0; i < each.elements(); ++i) each.set(i, 1);
  return added(part, addends).value(0);
}

StudyTable exponents(const std::vector<Curve>& curves) {
  StudyTable table{"Growth with the ranks",
                   "Root mean square of the error over the sum of magnitudes, as a power of R from 16 on, by 95 %.",
                   {{"sum", {}, {}},
                    {"at R = 1024", {}, {}},
                    {"exponent", {}, {}},
                    {"at least", {}, {}},
                    {"at most", {}, {}},
                    {"worst share of the bound", {}, {}}}};
  for (const Curve& curve : curves) {
    std::vector<double> ranks, error;
    for (std::size_t i = 0; i < curve.ranks.size(); ++i)
      if (curve.ranks[i] >= 16) ranks.push_back(curve.ranks[i]), error.push_back(curve.error[i]);
    const Fit fit = fit_power(ranks, error);
    table.columns[0].words.push_back(curve.text);
    const double row[] = {curve.error.back(), fit.slope, fit.interval.low, fit.interval.high, curve.worst};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i + 1].numbers.push_back(row[i]);
  }
  return table;
}

StudyTable stuck(Study& study) {
  StudyTable table{"Ones in bf16",
                   "What R ranks with 1 each add up to: behind 256 the next number is 258, and 256 + 1 rounds back.",
                   {{"ranks", {}, {}}, {"ring", {}, {}}, {"recursive doubling", {}, {}}}};
  for (const int ranks : {128, 256, 384, 1024}) {
    const double ring = ones("ring", ranks), pairs = ones("recursive_doubling", ranks);
    const std::string where = std::to_string(ranks) + " ones in bf16";
    demand(study, ring == std::min(ranks, 256), where + " by a ring: " + std::to_string(ring));
    demand(study, pairs == ranks, where + " in pairs: " + std::to_string(pairs));
    const double row[] = {static_cast<double>(ranks), ring, pairs};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
  }
  return table;
}

/// What is left of an end-to-end check, whose bound grows as R - 1 roundings of every sum.
StudyTable told(Study& study, const StudyOptions& options) {
  constexpr std::uint64_t cases = 20;
  constexpr double least = 90;
  StudyTable table{
      "Gradients held end to end, fp32",
      "Gradients whose bound is smaller than they are, in the 2-norm, %, of clean cases whose ranks add up by a "
      "ring.",
      {{"ranks", {}, {}}, {"gradients", {}, {}}, {"told", {}, {}}, {"outside", {}, {}}}};
  for (const int ranks : {2, 8, 64}) {
    const HeldGradients found = gradients_of_ranks(options.seed, ranks, cases);
    const auto gradients = static_cast<double>(found.gradients);
    const double share = 100 * static_cast<double>(found.informative) / gradients;
    const std::string where = " of the gradients of " + std::to_string(ranks) + " ranks";
    demand(study, found.failed == 0, std::to_string(found.failed) + where + " lie outside of their bounds");
    demand(study, share >= least, std::to_string(share) + " %" + where + " are told by their bounds");
    const double row[] = {static_cast<double>(ranks), gradients, share, static_cast<double>(found.failed)};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].numbers.push_back(row[i]);
  }
  return table;
}

StudyPlot plot_of(const std::vector<Curve>& curves, const std::string& format) {
  StudyPlot plot{"Error of a sum over ranks, " + format, "R, ranks", "rms error / sum of magnitudes", true, true, {}};
  for (const Curve& curve : curves)
    if (curve.text.find(format) != std::string::npos)
      plot.series.push_back({curve.text, curve.ranks, curve.error, {}, {}});
  return plot;
}

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  const std::vector<Part> parts = all_parts();
  const auto answers = run_jobs(
      options, parts.size(), [&](std::size_t i) { return measured(parts[i], options); },
      [&](std::size_t i) { return parts[i].text() + ", R = " + std::to_string(parts[i].ranks); });
  const std::vector<Curve> curves = curves_of(parts, answers);
  for (const Curve& curve : curves)
    demand(study, curve.worst <= 1, curve.text + ": " + std::to_string(curve.worst) + " of the bound");
  study.tables.push_back(exponents(curves));
  study.tables.push_back(stuck(study));
  study.tables.push_back(told(study, options));
  study.plots.push_back(plot_of(curves, "fp32"));
  study.plots.push_back(plot_of(curves, "bf16"));
  const auto& slopes = study.tables.front().columns[2].numbers;
  const auto slope = [&](const std::string& text) {
    for (std::size_t i = 0; i < curves.size(); ++i)
      if (curves[i].text == text) return std::to_string(slopes[i]);
    return std::string("not measured");
  };
  study.answer =
      "A ring's error for numbers of one sign in fp32, over the sum of magnitudes, grows as R to the power " +
      slope("ring, fp32, one sign") + ", recursive doubling's as " + slope("recursive_doubling, fp32, one sign") +
      "; for numbers of either sign " + slope("ring, fp32, either sign") + " and " +
      slope("recursive_doubling, fp32, either sign") + ".";
  study.notes = {
      "Ranks on fibres of one process, with the messages and kernels that a training step uses; at least 512 "
      "elements a sum, each magnitude drawn evenly from 1/2 to 1.",
      "The bound is gam(h, u) of the most additions h that an addend passes through: R - 1 in order and by a ring, the "
      "least h for which 2^h is at least R by doubling and halving, at most twice the logarithm of R in a tree."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "ranks",
    .question = "How does the rounding of a sum over ranks grow with their number, by algorithm and format?",
    .run = run,
}};

}  // namespace
}  // namespace tally::ranks_study
