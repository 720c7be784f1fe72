// Rules of pipelines.
#include <algorithm>
#include <optional>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules/rules.hpp"
#include "oracle/case/sharding.hpp"

namespace tally {
namespace {

const std::string at = "$.execution.ranks.pipeline";

std::string several(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : std::string_view(what).ends_with("ch") ? "es" : "s");
}

/// What is not stated of a pipeline.
void check_left_out(const Case& c, std::size_t stages, Findings& findings) {
  if (is_elastic(c))
    findings.add(at + ".stages", "a pipeline over a number of ranks that changes",
                 "as many ranks in every window, or no pipeline");
  if (stages > most_ranks / most_ranks_of(c))
    findings.add(at + ".stages", several(stages, "stage") + " of each of " + several(most_ranks_of(c), "rank"),
                 "at most " + std::to_string(most_ranks) + " of all ranks together");
  if (offloads(c)) findings.add("$.execution.ranks.offload", "true beside a pipeline", "false");
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (takes_step_statistics(c.model.layers[i]))
      findings.add(element_path("$.model.layers", i) + ".statistics", "\"micro_step\" beside a pipeline",
                   "\"micro_batch\" or \"frozen\"");
  if (shards_gradients(c))
    findings.add("$.execution.ranks.sharding", json_string(rank_word(c, "sharding")) + " beside a pipeline",
                 "\"none\" or \"optimizer\"");
  if (const std::string& word = rank_word(c, "communicate"); word != "window" && !shards_gradients(c))
    findings.add("$.execution.ranks.communicate", json_string(word) + " beside a pipeline", "\"window\"");
}

/// Only stages that are several read the other keys.
void check_needs_stages(const Case& c, Findings& findings) {
  for (const char* key : {"pipeline.cut", "pipeline.chunks", "pipeline.schedule", "pipeline.backward"})
    if (c.execution.ranks.options.contains(key))
      findings.add("$.execution.ranks." + std::string(key), "a key of pipelines beside one stage",
                   "at least two stages, or no such key");
}

/// The layer that a number of the cut names; nothing of what is none.
std::optional<std::size_t> layer_named(const Case& c, const Decimal& number) {
  const auto layer = exact_integer(number.text);
  if (!layer || *layer < 1 || *layer >= static_cast<std::int64_t>(c.model.layers.size())) return {};
  return static_cast<std::size_t>(*layer);
}

/// Why no part begins with this layer: a table in front that a layer behind multiplies by, where there is one.
std::string what_stands_in_front(const Model& model, std::size_t first) {
  const std::string layer = "layer " + std::to_string(first) + ", " + json_string(label_of(model, first));
  for (std::size_t i = first; i < model.layers.size(); ++i) {
    const std::string& tied = model.layers[i].tied;
    for (std::size_t table = 0; table < first && !tied.empty(); ++table)
      if (model.layers[table].name == tied)
        return json_string(label_of(model, i)) + " tied to the table of " + json_string(tied) + " in front of " + layer;
  }
  return layer + ", where later layers read more than the layer before it";
}

std::string places_word(const std::vector<std::size_t>& places) {
  constexpr std::size_t most = 8;
  if (places.empty()) return "no cut: no layer of this model can begin a part";
  std::string text = "the number of a layer that one tensor enters: ";
  for (std::size_t i = 0; i < std::min(most, places.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(places[i]);
  return text + (places.size() > most ? ", ..." : "");
}

void check_cut(const Case& c, std::size_t parts, Findings& findings) {
  const auto& cut = std::get<std::vector<Decimal>>(rank_option(c, "pipeline.cut"));
  if (cut.size() + 1 != parts)
    findings.add_broken(
        at + ".cut", several(cut.size(), "number"),
        std::to_string(parts - 1) + ", the first layer of each of " + std::to_string(parts) + " parts but the first");
  const std::vector<std::size_t> places = places_to_cut(c.model);
  std::size_t before = 0;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const std::string path = element_path(at + ".cut", i);
    const auto layer = layer_named(c, cut[i]);
    if (!layer)
      findings.add_broken(path, cut[i].text,
                          "the number of a layer, 1 to " + std::to_string(c.model.layers.size() - 1));
    else if (*layer <= before)
      findings.add_broken(path, cut[i].text, "a number > " + std::to_string(before) + ": every part has a layer");
    else if (std::ranges::count(places, *layer) == 0)
      findings.add_broken(path, what_stands_in_front(c.model, *layer), places_word(places));
    before = layer.value_or(before);
  }
}

/// Chunks take turns by as many micro-batches as there are stages.
void check_rounds(const Case& c, std::size_t window, std::int64_t stages, Findings& findings) {
  const std::string path = element_path("$.windows", window);
  for (std::size_t rank = 0; rank < ranks_of(c, window); ++rank) {
    const std::size_t count = micro_batches_of(c, window, rank);
    if (static_cast<std::int64_t>(count) % stages != 0)
      findings.add(c.dealt.empty() ? path : element_path(path, rank),
                   several(count, "micro-batch") + " beside \"interleaved\"",
                   "a multiple of the " + std::to_string(stages) + " stages");
  }
}

void check_schedule(const Case& c, std::int64_t stages, std::int64_t chunks, Findings& findings) {
  const std::string& schedule = pipeline_schedule(c);
  const bool interleaved = schedule == "interleaved";
  if (chunks > 1 && !interleaved)
    findings.add(at + ".chunks", std::to_string(chunks) + " beside \"schedule\": " + json_string(schedule),
                 "1, or the schedule \"interleaved\"");
  if (interleaved && chunks == 1)
    findings.add(at + ".schedule", "\"interleaved\" beside one chunk a stage", "two \"chunks\" or more, or \"1f1b\"");
  for (std::size_t w = 0; w < c.windows.size() && interleaved; ++w) check_rounds(c, w, stages, findings);
  if (rank_word(c, "pipeline.backward") == "lifo" && schedule != "gpipe")
    findings.add(at + ".backward", "\"lifo\" beside \"schedule\": " + json_string(schedule),
                 "\"fifo\", or the schedule \"gpipe\"");
}

}  // namespace

/// The stages of a pipeline: what they hold, and what does not go with them.
void check_pipeline(const Case& c, Findings& findings) {
  const std::int64_t stages = rank_number(c, "pipeline.stages"), chunks = rank_number(c, "pipeline.chunks");
  if (stages == 1) return check_needs_stages(c, findings);
  check_left_out(c, static_cast<std::size_t>(stages), findings);
  const auto layers = static_cast<std::int64_t>(c.model.layers.size());
  if (stages > layers || chunks > layers / stages) {
    findings.add_broken(at + ".stages", std::to_string(stages) + " stages of " + several(std::size_t(chunks), "chunk"),
                        "at most as many parts as the model has layers, " + std::to_string(layers));
    return;
  }
  check_schedule(c, stages, chunks, findings);
  check_cut(c, static_cast<std::size_t>(stages * chunks), findings);
}

}  // namespace tally
