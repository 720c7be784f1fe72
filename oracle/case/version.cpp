#include "oracle/case/version.hpp"

#include <algorithm>

#include "oracle/case/choice.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

bool is_of_ranks(const Model& model) { return std::ranges::any_of(model.layers, takes_step_statistics); }

}  // namespace

std::string what_needs_version(const Case& c) {
  if (!c.dealt.empty()) return "the micro-batches are dealt to ranks";
  if (!c.execution.ranks.kind.empty()) return "execution says how ranks work together";
  if (c.normalisation == Normalisation::rank_means) return "the normalisation is of ranks";
  if (is_of_ranks(c.model)) return "batch_norm takes statistics of all ranks";
  if (!is_chain(c.model)) return "a layer names its inputs";
  if (c.model.tokens) return "the model reads tokens";
  if (!c.sequences.empty()) return "the rows are sequences";
  if (c.execution.recompute && !c.execution.recomputed.empty()) return "some layers alone run again in backward";
  const auto is_younger = [](const Layer& layer) {
    const Contract* contract = find_contract("layer", layer.kind);
    return version_of(layer, "layer") > 1 || !layer.tied.empty() || !layer.trainable ||
           (contract != nullptr && contract->reads_positions);
  };
  if (std::ranges::any_of(c.model.layers, is_younger)) return "a layer is of that version";
  return version_of(c.model.loss, "loss") > 1 ? "the loss has an option of that version" : "";
}

std::int64_t version_of(const Case& c) {
  if (in_ranks(c) || c.normalisation == Normalisation::rank_means || is_of_ranks(c.model)) return 3;
  return what_needs_version(c).empty() ? 1 : 2;
}

}  // namespace tally
