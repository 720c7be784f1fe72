// Laws of the stages of a pipeline: each output is sent once, and few activations are held.
#include <algorithm>
#include <map>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/pipeline/pipelines.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: of every micro-batch a stage of a pipeline sends the output of each of its parts once, and once the gradient of
// what each of them read, where something in front of it trains; nothing else travels between stages but numbers of the
// window.   Bytes of a part: rows x features at its end, or at its begin, x the storage format.
namespace tally::stages_send_each_once_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 1 + plan.seed % 3);
  pipelined_on_ranks(plan);
}

/// Features that travel for one row through all parts of a stage, forward and back.
std::int64_t features_sent(const Case& c, std::size_t stage) {
  const auto parts = parts_of_model(c);
  const auto reached = graph_of(c.model).reached;
  std::int64_t all = 0;
  for (std::size_t part = stage; part < parts.size(); part += stages_of(c)) {
    const auto [first, end] = parts[part];
    if (end < c.model.layers.size()) all += features_after(c.model, end - 1);
    if (first > 0 && reached[first - 1]) all += features_after(c.model, first - 1);
  }
  return all;
}

std::uint64_t expected_bytes(const Case& c, std::size_t window, std::size_t rank, std::size_t stage) {
  std::int64_t rows = 0;
  const std::size_t first = first_micro_batch_of(c, window, rank);
  for (std::size_t k = 0; k < micro_batches_of(c, window, rank); ++k) rows += c.windows[window][first + k];
  return static_cast<std::uint64_t>(rows * features_sent(c, stage)) * size_of(c.precision.storage);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_pipelined(c)) return not_for(needs_stages);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  const TrafficScope scope;
  run(c, subject);
  if (scope.ranks().empty()) return not_for("stages of this process, whose messages are counted");
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t process = 0; process < ranks_of(c) * stages_of(c); ++process) {
      const std::size_t stage = process % stages_of(c), rank = process / stages_of(c);
      const std::uint64_t found = bytes_sent(scope, process, static_cast<int>(w), "send"),
                          expected = expected_bytes(c, w, rank, stage);
      require(first.outcome, found == expected, "w" + std::to_string(w) + "/send", "send",
              "stage " + std::to_string(stage) + " of rank " + std::to_string(rank) + " sends " +
                  std::to_string(found) + " bytes of activations and gradients in window " + std::to_string(w) +
                  "; its parts take " + std::to_string(expected));
    }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return all_bytes_sent(c, subject) != all_bytes_sent(without_stages(c), subject);
}

const RegisterLaw registered{{
    .name = "stages_send_each_once",
    .family = "pipeline",
    .statement = "A stage of a pipeline sends every activation once, and every gradient once.",
    .shape = shape,
    .holds = holds,
    .control = "one process with the whole model sends fewer bytes",
    .differs = differs,
    .weight = 0.25,
}};

}  // namespace
}  // namespace tally::stages_send_each_once_law

// Law: a stage holds the activations of as many micro-batches as its schedule says, and no more.   Stage p of P holds,
// of K micro-batches, K with gpipe; min(K, P - p) with 1f1b; min(V K, 2 (P - p - 1) + (V - 1) P + 1) of a chunk each
// with V interleaved chunks. So many that come one behind the other are alive at once: the most bytes of any of them
// are the peak.
namespace tally::stages_hold_few_activations_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2 + plan.seed % 4);
  pipelined_on_ranks(plan);
  plan.execution.kernels.erase("head_loss");
}

using Bytes = std::map<std::string, std::size_t>;

std::size_t elements_of(const std::vector<std::int64_t>& shape) {
  std::size_t all = 1;
  for (const std::int64_t extent : shape) all *= static_cast<std::size_t>(extent);
  return all;
}

/// What a micro-batch of so many rows leaves of one part, and what came for it.
Bytes bytes_of(const Case& c, std::size_t part, std::int64_t rows) {
  const PipelinePart layers = parts_of_model(c)[part];
  const std::size_t storage = size_of(c.precision.storage), height = static_cast<std::size_t>(rows);
  const auto width = [&](std::size_t layer) { return static_cast<std::size_t>(features_after(c.model, layer)); };
  Bytes bytes;
  for (std::size_t i = layers.first; i < layers.end; ++i) {
    const Layer& layer = c.model.layers[i];
    std::size_t statistics = 0;
    for (const RowStatistic& each : contract_of("layer", layer).row_statistics)
      statistics += elements_of(shape_of(each, layer, rows));
    if (layer.kind == "batch_norm") statistics += 3 * static_cast<std::size_t>(features_before(c.model, i));
    bytes["kept activations"] += storage * height * width(i) + sizeof(float) * statistics;
  }
  if (part > 0) bytes["received activations"] = storage * height * width(layers.first - 1);
  const bool comes_back = layers.end < c.model.layers.size() && graph_of(c.model).reached[layers.end - 1];
  if (comes_back) bytes["received gradients"] = storage * height * width(layers.end - 1);
  return bytes;
}

/// How many go forward before the first has gone back.
std::size_t alive_at_once(const Case& c, std::size_t stage, std::size_t micro_batches) {
  const std::size_t stages = stages_of(c), chunks = chunks_of(c), all = chunks * micro_batches;
  const std::string& schedule = pipeline_schedule(c);
  if (schedule == "gpipe") return all;
  if (schedule == "1f1b") return std::min(all, stages - stage);
  return std::min(all, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1);
}

/// The n-th of a stage's passes forward, and of those back, as a part and a micro-batch: P micro-batches through one chunk,
/// the same through the next one, then the next P.
struct Pass {
  std::size_t part, micro_batch;
};
Pass nth_pass(const Case& c, std::size_t stage, std::size_t n, bool back) {
  const std::size_t stages = stages_of(c), chunks = chunks_of(c);
  if (chunks == 1) return {stage, n};
  const std::size_t round = n / (stages * chunks), chunk = n % (stages * chunks) / stages;
  return {(back ? chunks - 1 - chunk : chunk) * stages + stage, round * stages + n % stages};
}

/// The peaks of a window. What came back is there for one micro-batch alone, while that goes back.
Bytes peaks_of_window(const Case& c, std::size_t stage, const std::vector<std::int64_t>& window) {
  const std::size_t all = chunks_of(c) * window.size(), most = alive_at_once(c, stage, window.size());
  Bytes now, peaks;
  for (std::size_t n = 0; n < all; ++n) {
    const Pass pass = nth_pass(c, stage, n, false);
    for (const auto& [kind, bytes] : bytes_of(c, pass.part, window[pass.micro_batch])) {
      now[kind] = bytes + (kind == "received gradients" ? 0 : now[kind]);
      peaks[kind] = std::max(peaks[kind], now[kind]);
    }
    if (n + 1 < most) continue;
    const Pass gone = nth_pass(c, stage, n + 1 - most, true);
    for (const auto& [kind, bytes] : bytes_of(c, gone.part, window[gone.micro_batch]))
      if (kind != "received gradients") now[kind] -= bytes;
  }
  return peaks;
}

Bytes expected_bytes(const Case& c, std::size_t stage) {
  Bytes peaks;
  for (const auto& window : c.windows)
    for (const auto& [kind, bytes] : peaks_of_window(c, stage, window)) peaks[kind] = std::max(peaks[kind], bytes);
  return peaks;
}

const char* stage_of(const std::string& kind) { return kind.starts_with("received") ? "receive" : "forward"; }

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_pipelined(c)) return not_for(needs_stages);
  Outcome outcome;
  try {
    require_tallys_kernels(subject, "the memory of each buffer");
    for (const Case& each : by_every_schedule(c)) {
      const std::vector<MemoryUse> stages = memory_of_ranks(each, subject);
      for (std::size_t process = 0; process < stages.size(); ++process) {
        const std::size_t stage = process % stages_of(each), rank = process / stages_of(each);
        Bytes expected = expected_bytes(part_of(each, rank), stage);
        for (const char* kind : {"kept activations", "received activations", "received gradients"})
          require(outcome, stages[process].of(kind) == expected[kind], std::string("peak bytes of ") + kind,
                  stage_of(kind),
                  "stage " + std::to_string(stage) + " of rank " + std::to_string(rank) + " in a pipeline by " +
                      pipeline_schedule(each) + " took " + std::to_string(stages[process].of(kind)) + " bytes of " +
                      kind + " at most; expected " + std::to_string(expected[kind]));
      }
    }
  } catch (const NotSupported& reason) {
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  }
  return settled(std::move(outcome));
}

/// The first stage keeps all micro-batches of the one, and P of the other.
bool differs(const Case& c, const RunOptions& subject) {
  const auto bytes = [&](const Case& each) { return memory_of_ranks(each, subject).back().of("kept activations"); };
  Case all = with_rank_option(c, "pipeline.schedule", std::string("gpipe")), one = all;
  if (chunks_of(c) > 1) return bytes(c) != bytes(without_stages(c));
  set_rank_option(one.execution, "pipeline.backward", std::string("fifo"));
  set_rank_option(one.execution, "pipeline.schedule", std::string("1f1b"));
  return bytes(all) != bytes(one);
}

const RegisterLaw registered{{
    .name = "stages_hold_few_activations",
    .family = "pipeline",
    .statement = "Each stage of a pipeline holds the activations of as many micro-batches as its schedule says.",
    .shape = shape,
    .holds = holds,
    .control = "all micro-batches forward first take other bytes on the last stage than one at a time",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::stages_hold_few_activations_law
