// Restatements of statistics, of where the buffers start, and of where gradients are clipped.
#include <algorithm>
#include <set>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/restatement.hpp"

// BatchNorm normalises by the statistics of other rows than the case says.
namespace tally::batch_statistics_restatement {
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

const RegisterRestatement registered{{
    .name = "batch-statistics-otherwise",
    .sentence = "BatchNorm normalises by the statistics of other rows than the case says",
    .formula = "μ = Σ x / n over other rows",
    .remedy = "take BatchNorm's statistics as the case says (`.train()`, `.eval()`, SyncBatchNorm), or state the rows "
              "that the loop takes",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::batch_statistics_restatement

namespace tally::buffers_restatement {
namespace {

Restated started_at(BufferStart start, const std::string& formula) {
  Restated way;
  way.deviation.buffer = start;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_never_cleared{{
    .name = "missing-zero-between-windows",
    .sentence = "gradients are not cleared between windows: each window adds to the sum of the one before",
    .formula = "A_0 = the last window's sum",
    .ways = [](const Case&, const Trace&) -> std::vector<Restated> {
      return {started_at(BufferStart::kept, "A_0 = the last window's sum"),
              started_at(BufferStart::kept_as_stepped, "A_0 = the last window's sum, unscaled and clipped in place")};
    },
}};

/// Parameters whose buffer held something when the second window began.
std::set<std::string> kept_in(const Case& c, const Trace& trace) {
  std::set<std::string> kept;
  for (const std::string& p : parameters_of(c.model)) {
    const Tensor* buffer = trace.find(TapName{1, 0, "accumulate", "in.buffer." + p}.view());
    for (std::size_t i = 0; buffer != nullptr && i < buffer->elements(); ++i)
      if (buffer->value(i) != 0) kept.insert(p);
  }
  return kept;
}

const RegisterRestatement registered_some_never_cleared{{
    .name = "missing-zero-of-some",
    .sentence = "the gradients of some parameters are not cleared between windows",
    .formula = "A_0 = the last window's sum, of these parameters",
    .remedy = "clear the gradients of all parameters after the step: call `model.zero_grad()` if the optimizer holds "
              "only some of them",
    .ways = [](const Case& c, const Trace& trace) -> std::vector<Restated> {
      const std::set<std::string> kept = kept_in(c, trace);
      if (kept.empty() || kept.size() == parameters_of(c.model).size()) return {};
      Restated way;
      way.deviation.keeps = [kept](const std::string& p) { return kept.contains(p); };
      way.changed = 2;
      const std::string more = kept.size() > 1 ? " and of " + std::to_string(kept.size() - 1) + " more" : "";
      way.sentence = "the gradient of " + *kept.begin() + more + " is not cleared between windows, the others are";
      return {way};
    },
}};

const RegisterRestatement registered_last_only{{
    .name = "last-only",
    .sentence = "every micro-batch overwrites the gradient, so that only the last one counts",
    .formula = "A = s_k",
    .ways = [](const Case&, const Trace&) -> std::vector<Restated> {
      return {started_at(BufferStart::overwritten, "A = s_k")};
    },
}};

}  // namespace
}  // namespace tally::buffers_restatement

// Restatements of where, and whether, gradients are clipped.
namespace tally::clips_restatement {
namespace {

/// A clip at this place. It would be of another norm as well where gradients are scaled.
Restated clipped_at(const Case& c, ClipPlace place, const std::string& formula) {
  Restated way;
  const bool otherwise = place != ClipPlace::before_unscale && written_scale(c.recipe.loss_scale) != nullptr;
  way.changed = otherwise ? 3 : 1;
  way.deviation.clip = place;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_left_out{{
    .name = "clip-left-out",
    .sentence = "nothing is clipped",
    .formula = "g = g, whatever its norm",
    .remedy =
        "call `clip_grad_norm_` after the window's last `backward()` and before `optimizer.step()`, or state no clip",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip)) return {};
      Restated way;
      way.change = [](Case& other) { other.recipe.clip = {"none", {}}; };
      return {way};
    },
}};

const RegisterRestatement registered_per_micro_batch{{
    .name = "clip-per-microbatch",
    .sentence = "every micro-batch is clipped before the next one is added",
    .formula = "A = Σ clip(s_k)",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip)) return {};
      return {clipped_at(c, ClipPlace::each_gradient, "A = Σ clip(s_k)"),
              clipped_at(c, ClipPlace::running_sum, "A = clip(clip(s_0) + s_1) + …")};
    },
}};

const RegisterRestatement registered_before_unscale{{
    .name = "clip-before-unscale",
    .sentence = "the norm is that of the scaled gradient: clipping comes before unscaling",
    .formula = "norm = |A|",
    .ways = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!clips(c.recipe.clip) || written_scale(c.recipe.loss_scale) == nullptr) return {};
      return {clipped_at(c, ClipPlace::before_unscale, "norm = |A|")};
    },
}};

}  // namespace
}  // namespace tally::clips_restatement
