// Law: of every micro-batch a stage of a pipeline sends the output of each of its parts once, and once the gradient of
// what each of them read, where something in front of it trains; nothing else travels between stages but numbers of the
// window.   Bytes of a part: rows x features at its end, or at its begin, x the storage format.
#include "oracle/case/graph.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/laws/pipeline/pipelines.hpp"
#include "properties/laws/ranks/bytes_sent.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
