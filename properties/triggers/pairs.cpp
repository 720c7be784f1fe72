#include "properties/triggers/pairs.hpp"

#include <algorithm>

#include "properties/generators/settings.hpp"
#include "properties/laws/settings/together.hpp"

namespace tally {
namespace {

/// Calls `each` with the places of every pair, the later one first, and whether a run showed it.
template <class Each>
void for_every_pair(const std::vector<TriggerRecord>& triggers, Each each) {
  const auto first = std::ranges::find(triggers, settings().front().name, &TriggerRecord::name);
  for (std::size_t i = 0; first != triggers.end() && i < settings().size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (make_a_pair(i, j)) each(i, j, was_seen_with(*(first + static_cast<std::ptrdiff_t>(i)), j));
}

}  // namespace

PairsRecord pairs_of(const std::vector<TriggerRecord>& triggers) {
  PairsRecord pairs;
  for_every_pair(triggers, [&](std::size_t i, std::size_t j, bool seen) {
    if (seen)
      ++pairs.seen;
    else if (why_never_together(i, j))
      ++pairs.refused;
    else
      pairs.unseen.push_back(settings()[j].name + " beside " + settings()[i].name);
  });
  return pairs;
}

std::vector<std::pair<std::size_t, std::size_t>> pairs_to_show(const std::vector<TriggerRecord>& triggers) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for_every_pair(triggers, [&](std::size_t i, std::size_t j, bool seen) {
    if (!seen && !why_never_together(i, j)) pairs.emplace_back(i, j);
  });
  return pairs;
}

bool counts_pairs(const Results& results) {
  return results.triggers_required && !results.partial && results.shard.empty();
}

void count_pairs(Results& results) {
  if (counts_pairs(results)) results.pairs = pairs_of(results.triggers);
}

}  // namespace tally
