// Bugs of running_stats, and of statistics and running values that ranks share.
#include <string>
#include <string_view>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"

namespace tally::running_stats_bug {
namespace {

// The running variance takes the biased variance of the batch.
namespace biased_variance {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update || !held.name.tensor.ends_with("_var")) return std::nullopt;
  return mixed(update->running, 1 - update->momentum, update->batch, update->momentum);
}

const RegisterBug registered{{
    .name = "biased-running-variance",
    .stages = {"running_stats"},
    .sentence = "the running variance is updated with the biased variance of the batch, without n / (n - 1)",
    .formula = "r = (1 - m) r + m v",
    .remedy = "multiply the batch's variance by n / (n - 1) before it enters the running one",
    .left = left,
}};

}  // namespace biased_variance

// Old and new running statistics are weighed the wrong way round.
namespace momentum_swapped {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  return mixed(running, m, batch, (1 - m) * unbiased);
}

const RegisterBug registered{{
    .name = "bn-momentum-swapped",
    .stages = {"running_stats"},
    .sentence = "the weights of old and new running statistics are swapped",
    .formula = "r = m r + (1 - m) v",
    .remedy = "weight the new statistics by momentum and the old by 1 - momentum",
    .left = left,
}};

}  // namespace momentum_swapped

// The window's statistics move the running values once for every micro-batch.
namespace statistics_moved_k_times {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update || held.name.micro_batch >= 0) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  Values moved = running;
  for (int k = 0; k < evidence.micro_batches(held.name.window); ++k) moved = mixed(moved, 1 - m, batch, m * unbiased);
  return moved;
}

const RegisterBug registered{{
    .name = "bn-running-k-updates",
    .stages = {"running_stats"},
    .sentence = "the running statistics are updated with the window's once per micro-batch, not once",
    .formula = "r = (1 - m)^K r + (1 - (1 - m)^K) v",
    .remedy = "update the running statistics once per window, not once per micro-batch",
    .left = left,
}};

}  // namespace statistics_moved_k_times

// Running statistics move once more when activations are computed again.
namespace statistics_moved_twice {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto update = running_update(evidence, held);
  if (!update) return std::nullopt;
  const auto& [running, batch, m, unbiased] = *update;
  return mixed(mixed(running, 1 - m, batch, m * unbiased), 1 - m, batch, m * unbiased);
}

const RegisterBug registered{{
    .name = "statistics-moved-twice",
    .stages = {"running_stats"},
    .sentence = "the running statistics are updated twice, as when the forward pass is recomputed",
    .formula = "r = (1 - m)² r + m (2 - m) v",
    .remedy = "do not update running statistics while a checkpoint recomputes the forward pass",
    .left = left,
}};

}  // namespace statistics_moved_twice

// A skipped window takes its running statistics back.
namespace statistics_restored {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int window = held.name.window;
  if (!held.name.tensor.starts_with("in.") || held.name.tensor.find(".running_") == std::string::npos)
    return std::nullopt;
  if (window == 0 || held.name.micro_batch > 0) return std::nullopt;
  if (evidence.scalar(window - 1, "overflow_check", "found", 0) == 0) return std::nullopt;
  const int first = held.name.micro_batch;  // or -1, for statistics of the window
  return evidence.tap(window - 1, first, "running_stats", held.name.tensor);
}

const RegisterBug registered{{
    .name = "running-values-restored-on-skip",
    .stages = {"running_stats"},
    .sentence = "a skipped window restores the running statistics from before it",
    .formula = "r after a skipped window = r before it",
    .remedy = "keep the running statistics of a skipped window",
    .left = left,
}};

}  // namespace statistics_restored
}  // namespace
}  // namespace tally::running_stats_bug

// Suspect of the running values that ranks begin a window with.
namespace tally::running_of_ranks_bug {
namespace {

/// What this rank held of it before the window: what its last micro-batch moved, or what it began an earlier one with.
std::optional<Values> held_before(const Evidence& evidence, int window, const std::string& tensor) {
  for (int earlier = window - 1; earlier >= 0; --earlier) {
    const int last = evidence.micro_batches(earlier) - 1;
    const std::string name = last < 0 ? "broadcast." + tensor : tensor;
    if (auto left = evidence.tap(earlier, last, "running_stats", name)) return left;
  }
  return std::nullopt;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  constexpr std::string_view handed = "broadcast.";
  if (held.name.micro_batch >= 0 || !held.name.tensor.starts_with(handed)) return std::nullopt;
  return held_before(evidence, held.name.window, held.name.tensor.substr(handed.size()));
}

const RegisterBug registered{{
    .name = "buffers-not-synchronised",
    .stages = {"running_stats"},
    .sentence = "a rank keeps its own running statistics, not rank 0's",
    .formula = "r_rank = what it left itself",
    .remedy = "broadcast the running values from rank 0 at every window (DDP: `broadcast_buffers=True`)",
    .left = left,
}};

}  // namespace
}  // namespace tally::running_of_ranks_bug

// Bugs of statistics that ranks share of a micro-step.
namespace tally::micro_steps_bug {
namespace {

// Backward takes its own sums for those of all ranks.
namespace own_sums {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string& tensor = held.name.tensor;
  if (!tensor.ends_with(".sum_dy") && !tensor.ends_with(".sum_dy_h")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, held.name.stage, "in." + tensor);
}

const RegisterBug registered{{
    .name = "synchronised-backward-stays-local",
    .stages = {"sync_statistics"},
    .sentence = "SyncBatchNorm's backward uses the sums over a rank's own rows, not over all ranks",
    .formula = "Σ dy, Σ dy h over the rank's rows",
    .remedy = "sum BatchNorm's two backward sums over ranks",
    .left = left,
}};

}  // namespace own_sums

// Every rank's own numbers are those of all.
namespace own_statistics {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string& tensor = held.name.tensor;
  if (!tensor.ends_with(".mean") && !tensor.ends_with(".var")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, held.name.stage, "in." + tensor);
}

const RegisterBug registered{{
    .name = "statistics-stay-local",
    .stages = {"sync_statistics"},
    .sentence = "a rank uses the mean and variance of its own rows, not of all ranks",
    .formula = "mean and var over the rank's rows",
    .remedy = "take the statistics of all ranks: `torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)`",
    .left = left,
}};

}  // namespace own_statistics

}  // namespace
}  // namespace tally::micro_steps_bug

// BatchNorm normalises by the statistics of other rows than the case says.
namespace tally::batch_statistics_bug {
namespace {

Restated by(const std::string& statistics, const std::string& formula) {
  Restated way;
  way.change = [statistics](Case& c) {
    for (Layer& layer : c.model.layers) {
      if (layer.kind == kinds::batch_norm) layer.options["statistics"] = statistics;
    }
  };
  way.formula = formula;
  return way;
}

/// One choice for all of its layers, where a layer has another.
std::vector<Restated> ways(const Case& c, const Trace&) {
  std::vector<Restated> all;
  const auto differs_from = [&](const std::string& statistics) {
    return std::any_of(c.model.layers.begin(), c.model.layers.end(), [&](const Layer& layer) {
      return layer.kind == kinds::batch_norm && layer.text("statistics") != statistics;
    });
  };
  if (differs_from("micro_batch")) all.push_back(by("micro_batch", "μ = Σ x / n over the rows of a micro-batch"));
  if (differs_from("window")) all.push_back(by("window", "μ = Σ x / n over the rows of the window"));
  if (differs_from("frozen")) all.push_back(by("frozen", "μ = the running mean"));
  return all;
}

const RegisterBug registered{{
    .name = "batch-statistics-otherwise",
    .sentence = "BatchNorm normalises by the statistics of other rows than the case says",
    .formula = "μ = Σ x / n over other rows",
    .remedy = "take BatchNorm's statistics as the case says (`.train()`, `.eval()`, SyncBatchNorm), or state the rows "
              "that the loop takes",
    .restated = ways,
}};

}  // namespace
}  // namespace tally::batch_statistics_bug
