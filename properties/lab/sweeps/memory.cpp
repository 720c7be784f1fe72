// Sweep: the peak of the device's memory by kind, counted buffer by buffer. At a fixed batch activations follow the
// rows of a micro-batch; parameters, gradients and optimizer state do not change with the cut.
#include "kernels/training_step/run/cost.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally::memory_study {
namespace {

constexpr std::int64_t fixed_batch = 128, fixed_rows = 4, largest_k = 32;
const char* const kinds[] = {"activations", "gradients", "optimizer state", "parameters", "storage copies",
                             "workspace",   "data"};

std::vector<Layer> network(const std::string& norm) {
  std::vector<Layer> layers{layer("linear", "fc1", {{"out", std::int64_t{32}}})};
  if (norm == "layer_norm") layers.push_back(layer("layer_norm", "norm1"));
  if (norm == "batch_norm") layers.push_back(layer("batch_norm", "norm1", {{"statistics", std::string("window")}}));
  layers.push_back(layer("gelu"));
  return layers;
}

Choice optimizer_of(const std::string& name) {
  if (name == "Adam") return choice("optimizer", "adam");
  return sgd(name == "SGD" ? 0 : 0.9);
}

/// A window of K micro-batches of fp16 digits through 64-32-10.
MemoryUse measured(const StudyOptions& options, const std::string& norm, const std::string& optimizer, std::int64_t k,
                   std::int64_t rows) {
  const ExactProblem problem{.source = RowSource::digits,
                             .rows = k * rows,
                             .seed = options.seed,
                             .storage = Dtype::fp16,
                             .hidden = network(norm)};
  const Case c = with_optimizer(in_windows(exact_case(problem), 1, k, rows), optimizer_of(optimizer), 0x1p-6);
  return memory_of(c, options.subject);
}

struct CutUse {
  std::int64_t k, rows;
  MemoryUse use;
};

StudyTable table_of(const std::vector<CutUse>& points, std::string title, std::string note) {
  StudyTable table{std::move(title), std::move(note), {{"rows per micro-batch", {}, {}}, {"K", {}, {}}}};
  for (const char* kind : kinds) table.columns.push_back({std::string(kind) + ", bytes", {}, {}});
  table.columns.push_back({"all at once, bytes", {}, {}});
  for (const CutUse& point : points) {
    table.columns[0].numbers.push_back(static_cast<double>(point.rows));
    table.columns[1].numbers.push_back(static_cast<double>(point.k));
    for (std::size_t i = 0; i < std::size(kinds); ++i) {
      table.columns[i + 2].numbers.push_back(static_cast<double>(point.use.of(kinds[i])));
    }
    table.columns.back().numbers.push_back(static_cast<double>(point.use.peak));
  }
  return table;
}

StudyPlot plot_of(const std::vector<CutUse>& points, std::string title, bool along_rows) {
  StudyPlot plot{std::move(title),
                 along_rows ? "rows per micro-batch" : "micro-batches in a window, K",
                 "peak memory, bytes",
                 true,
                 true,
                 {}};
  for (const char* kind : kinds) {
    if (std::string(kind) == "workspace") continue;  // a few scalars, far below
    StudySeries series{kind, {}, {}, {}, {}};
    for (const CutUse& point : points) {
      series.x.push_back(static_cast<double>(along_rows ? point.rows : point.k));
      series.y.push_back(static_cast<double>(point.use.of(kind)));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// Collects what broke; the study passes while nothing did.
struct Demands {
  Study& study;

  void equal(std::size_t found, std::size_t expected, const std::string& what) const {
    demand(study, found == expected,
           what + ": " + std::to_string(found) + " bytes, expected " + std::to_string(expected));
  }
  /// Every kind but data, and activations unless they are asked for.
  void same(const CutUse& point, const CutUse& first, bool activations, const std::string& where) const {
    for (const char* kind : kinds) {
      const bool skipped = std::string(kind) == "data" || (!activations && std::string(kind) == "activations");
      if (!skipped) equal(point.use.of(kind), first.use.of(kind), std::string(kind) + where);
    }
    equal(point.use.of("unknown"), 0, "buffers of no kind" + where);
  }
};

std::vector<CutUse> fixed_batch_points(const StudyOptions& options, Study& study) {
  std::vector<CutUse> points;
  const Demands demands{study};
  for (std::int64_t rows = 1; rows <= fixed_batch; rows *= 2) {
    points.push_back({fixed_batch / rows, rows, measured(options, "layer_norm", "Adam", fixed_batch / rows, rows)});
    const std::string where = " in micro-batches of " + std::to_string(rows);
    demands.same(points.back(), points.front(), false, where);
    demands.equal(points.back().use.of("activations"),
                  static_cast<std::size_t>(rows) * points.front().use.of("activations"), "activations" + where);
  }
  study.tables.push_back(table_of(points, "A batch of 128 rows, cut into micro-batches",
                                  "Adam, LayerNorm. Activations follow the rows of a micro-batch; only data, which is "
                                  "the batch itself, follows the batch."));
  study.plots.push_back(plot_of(points, "Peak memory by kind, batch of 128 rows", true));
  return points;
}

std::vector<CutUse> growing_batch_points(const StudyOptions& options, const std::string& norm, Study& study) {
  std::vector<CutUse> points;
  const bool lockstep = norm == "batch_norm";
  for (std::int64_t k = 1; k <= largest_k; k *= 2) {
    points.push_back({k, fixed_rows, measured(options, norm, "Adam", k, fixed_rows)});
    if (!lockstep) Demands{study}.same(points.back(), points.front(), true, " with K = " + std::to_string(k));
  }
  study.tables.push_back(table_of(
      points,
      lockstep ? "More micro-batches of 4 rows under window BatchNorm, the exception" : "More micro-batches of 4 rows",
      lockstep ? "Statistics of the whole window keep all its micro-batches alive: "
                 "activations and micro-batch gradients follow the batch."
               : "Adam, LayerNorm. Nothing but the data grows."));
  study.plots.push_back(plot_of(points,
                                lockstep ? "Peak memory by kind under window BatchNorm, micro-batches of 4 rows"
                                         : "Peak memory by kind, micro-batches of 4 rows",
                                false));
  return points;
}

/// Two, one or no number for each parameter, whatever K.
void optimizer_states(const StudyOptions& options, Study& study) {
  StudyTable table{"Optimizer state",
                   "Peak bytes; it does not depend on K.",
                   {{"optimizer", {}, {}},
                    {"K = 1, bytes", {}, {}},
                    {"K = 32, bytes", {}, {}},
                    {"bytes for each byte of master parameters", {}, {}}}};
  const std::pair<const char*, std::size_t> each[] = {{"SGD", 0}, {"SGD with momentum", 1}, {"Adam", 2}};
  for (const auto& [optimizer, copies] : each) {
    const MemoryUse one = measured(options, "", optimizer, 1, fixed_rows);
    const MemoryUse many = measured(options, "", optimizer, largest_k, fixed_rows);
    const std::size_t state = one.of("optimizer state"), parameters = one.of("parameters");
    Demands{study}.equal(many.of("optimizer state"), state, std::string("optimizer state, ") + optimizer + ", K = 32");
    Demands{study}.equal(state, copies * parameters, std::string("optimizer state, ") + optimizer);
    table.columns[0].words.push_back(optimizer);
    const double row[] = {static_cast<double>(state), static_cast<double>(many.of("optimizer state")),
                          static_cast<double>(state) / static_cast<double>(parameters)};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i + 1].numbers.push_back(row[i]);
  }
  study.tables.push_back(std::move(table));
}

std::string bytes(const CutUse& point, const char* kind) { return std::to_string(point.use.of(kind)); }

Study run(const StudyOptions& options) {
  Study study;
  study.status = Status::pass;
  options.progress("a batch of 128 rows");
  const auto cut = fixed_batch_points(options, study);
  options.progress("more micro-batches");
  const auto more = growing_batch_points(options, "layer_norm", study);
  const auto window = growing_batch_points(options, "batch_norm", study);
  optimizer_states(options, study);
  study.answer = "Cutting 128 rows from one micro-batch into 128 takes the peak of the activations from " +
                 bytes(cut.back(), "activations") + " to " + bytes(cut.front(), "activations") +
                 " bytes and leaves gradients (" + bytes(cut.front(), "gradients") + ") and optimizer state (" +
                 bytes(cut.front(), "optimizer state") + ") as they are; 32 micro-batches of 4 rows take " +
                 bytes(more.back(), "activations") + " bytes of activations, one takes " +
                 bytes(more.front(), "activations") + "; with window BatchNorm they take " +
                 bytes(window.back(), "activations") + " and " + bytes(window.front(), "activations") + ".";
  study.notes = {
      "Counted, not estimated: every buffer the training step takes from the device, by the bytes asked for. "
      "Each kind's column is its own peak.",
      "fp16 digits through linear 64-32-10 with GELU; master parameters and Adam's state in fp32.",
      "The training step holds the whole case's rows on the device (data); a loader would bring one "
      "micro-batch at a time.",
      "cuBLAS's workspace, the same for every case, is not counted."};
  return study;
}

const Register<StudyRunner> registered{{
    .family = "sweep",
    .name = "memory",
    .question = "What does the peak of the device's memory follow: the micro-batch, the batch, or K?",
    .run = run,
}};

}  // namespace
}  // namespace tally::memory_study
