// How small a wrong factor in a weight gradient is still found, by which lens: a ladder of factors 1 + theta, planted
// before the gradient is stored, in every precision and at every size of the gradient. And how small an error of any
// other stage is.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/stage_sensitivity.hpp"
#include "properties/lab/study.hpp"

namespace tally::sensitivity_study {
namespace {

constexpr std::int64_t features = 64, rows = 16, micro_batches = 4;
/// That many of that many found: with 95 % confidence at least 95 % are, because 0.05^(1/59) > 0.95.
constexpr int cases_per_rung = 59;

constexpr int rungs = 64;  // half a binary order apart
constexpr double magnitudes[] = {1, 1e-3, 1e-6};

/// theta of rung j: 2^-2, 2^-2.5, ...
double theta_of(int rung) { return std::exp2(-2 - rung / 2.0); }

Plan plan_of(Dtype storage, double magnitude, std::uint64_t seed) {
  Plan plan;
  plan.input = plan.outputs = features;
  plan.loss = choice("loss", "mse");
  plan.windows = {std::vector<std::int64_t>(micro_batches, rows)};
  plan.precision.storage = storage;
  // A power of two that undoes the magnitude, as a loss scaler would.
  const bool wide = format_row(storage).has_range_of_fp32();
  const double scale = wide ? 1 : std::exp2(std::round(-std::log2(magnitude)));
  plan.recipe = {
      choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", decimal(0.125)}}),
      choice("weight_decay", "none"), choice("clip", "none"),
      scale == 1 ? choice("loss_scale", "none") : choice("loss_scale", "static", {{"scale", decimal(scale)}})};
  plan.seed = seed;
  return plan;
}

/// Weights and targets scaled by `magnitude`: so are the differences, and with them every gradient.
Case case_at(Dtype storage, double magnitude, std::uint64_t seed) {
  Case c = case_of(plan_of(storage, magnitude, seed));
  for (auto& [name, tensor] : c.tensors) {
    if (name == "x") continue;
    for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, magnitude * tensor.value(i));
    tensor.drawing.reset();
  }
  return c;
}

/// Which lens finds a planted factor in one case.
struct Found {
  bool bound = false, spread = false;
};

Found found_in(const Case& c, const RunOptions& subject, double theta) {
  RunOptions planted = subject;
  planted.stages = &with_scaled_weight_gradients(theta);
  Found found;
  for (const TensorCheck& check : local_lens(c, run(c, planted))) {
    if (check.status != Status::fail || check.stage != StageName::backward) continue;
    (check.failure == FailureClass::precision ? found.spread : found.bound) = true;
  }
  return found;
}

/// Whether every case of a rung is found: by a bound, or by either.
struct Rung {
  bool bound = true, any = true;
};

/// The smallest theta such that every case is found there; 0: on no rung. Larger factors are no harder to find, so the
/// last rung that holds is looked for by bisection.
struct Smallest {
  double bound = 0, any = 0;
};

class Ladder {
 public:
  Ladder(Dtype storage, double magnitude, const StudyOptions& options, int cases)
      : storage_(storage), magnitude_(magnitude), options_(options), cases_(cases) {}

  Smallest smallest() {
    return {bisect([this](int rung) { return at(rung).bound; }), bisect([this](int rung) { return at(rung).any; })};
  }

 private:
  template <class Holds>
  double bisect(Holds&& holds) {
    int found = -1, missed = rungs;
    while (missed - found > 1) {
      const int middle = (found + missed) / 2;
      (holds(middle) ? found : missed) = middle;
    }
    return found < 0 ? 0 : theta_of(found);
  }

  const Rung& at(int rung) {
    const auto known = rungs_.find(rung);
    if (known != rungs_.end()) return known->second;
    Rung all;
    for (int i = 0; i < cases_ && (all.any || all.bound) && !interrupted(); ++i) {
      const auto seed = options_.seed + static_cast<std::uint64_t>(rung * cases_ + i);
      const Found found = found_in(case_at(storage_, magnitude_, seed), options_.subject, theta_of(rung));
      all.bound = all.bound && found.bound;
      all.any = all.any && (found.bound || found.spread);
    }
    return rungs_[rung] = all;
  }

  bool interrupted() const { return options_.interrupted != nullptr && options_.interrupted->load(); }

  Dtype storage_;
  double magnitude_;
  const StudyOptions& options_;
  int cases_;
  std::map<int, Rung> rungs_;
};

struct Cell {
  Dtype storage;
  double magnitude;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Dtype storage : storage_formats()) {
    for (const double magnitude : magnitudes) all.push_back({storage, magnitude});
  }
  return all;
}

std::vector<Smallest> measured(const StudyOptions& options, int cases) {
  const auto all = cells();
  const auto answers = run_in_processes(
      all.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) {
        const Smallest found = Ladder(all[i].storage, all[i].magnitude, options, cases).smallest();
        return nlohmann::json{found.bound, found.any}.dump();
      },
      [&](std::size_t i) { options.progress(std::string(name_of(all[i].storage)) + " measured"); });
  std::vector<Smallest> results;
  for (const std::string& answer : answers) {
    if (answer.starts_with("crash: ")) throw std::runtime_error("sensitivity: " + answer);
    const auto values = nlohmann::json::parse(answer);
    results.push_back({values.at(0).get<double>(), values.at(1).get<double>()});
  }
  return results;
}

Study run_sensitivity(const StudyOptions& options) {
  const int cases = std::max(1, static_cast<int>(cases_per_rung * options.effort));
  const auto found = measured(options, cases);
  const auto all = cells();
  Study study;
  StudyTable table{"Smallest factor 1 + θ found in every one of " + std::to_string(cases) + " cases",
                   "With 59 cases a rung: with 95 % confidence, at least 95 % of such faults are found. Linear 64-64, "
                   "mse, 4 micro-batches of 16 "
                   "rows; 0: found on no rung.",
                   {{"precision", {}, {}},
                    {"size of the gradient", {}, {}},
                    {"θ by a bound", {}, {}},
                    {"θ by bound or spread", {}, {}}}};
  StudyPlot plot{"Smallest wrong factor found", "size of the gradient", "θ", true, true, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name(name_of(all[i].storage));
    table.columns[0].words.push_back(name);
    table.columns[1].numbers.push_back(all[i].magnitude);
    table.columns[2].numbers.push_back(found[i].bound);
    table.columns[3].numbers.push_back(found[i].any);
    if (i % std::size(magnitudes) == 0) {
      plot.series.push_back({name + ", bound", {}, {}, {}, {}});
      plot.series.push_back({name + ", bound or spread", {}, {}, {}, {}});
    }
    const std::size_t last = plot.series.size() - 1;
    for (const std::size_t s : {last - 1, last}) {
      const double theta = s == last ? found[i].any : found[i].bound;
      if (theta == 0) continue;
      plot.series[s].x.push_back(all[i].magnitude);
      plot.series[s].y.push_back(theta);
    }
  }
  const auto text = [](double x) { return nlohmann::json(x).dump(); };
  study.answer = "At gradients of size 1 a wrong factor is found from θ = ";
  for (std::size_t i = 0; i < all.size(); i += std::size(magnitudes)) {
    const bool last = i + std::size(magnitudes) == all.size();
    if (i > 0) study.answer += last ? " and " : ", ";
    study.answer += text(found[i].any) + (i == 0 ? " on in " : " in ") + std::string(name_of(all[i].storage));
  }
  study.answer += ".";
  study.status = Status::pass;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (found[i].any > 0) continue;
    study.status = Status::fail;
    study.message = std::string(name_of(all[i].storage)) + ": not even a quarter too much is found";
  }
  study.notes = {
      "The factor is planted in the epilogue of dW = dyᵀ x, before the gradient is rounded to its storage format.",
      "A bound proves the fault; the spread (oracle/spread.md) fails at α = 1e-9 a campaign.",
      "fp16 runs with a loss scale that undoes the size of the gradient, as a training would.",
      "2^-24 is the smallest relative error that changes a float: nothing smaller can be planted."};
  study.tables = {std::move(table), stage_sensitivity(options)};
  study.plots.push_back(std::move(plot));
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "sensitivity",
    .question = "How small a wrong factor in a weight gradient is still found?",
    .run = run_sensitivity,
}};

}  // namespace
}  // namespace tally::sensitivity_study
