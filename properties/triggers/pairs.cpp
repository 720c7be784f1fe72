#include "properties/triggers/pairs.hpp"

#include <algorithm>

#include "properties/generators/settings.hpp"
#include "properties/laws/settings/together.hpp"

namespace tally {

PairsRecord pairs_of(const std::vector<TriggerRecord>& triggers) {
  PairsRecord pairs;
  const auto first = std::ranges::find(triggers, settings().front().name, &TriggerRecord::name);
  for (std::size_t i = 0; first != triggers.end() && i < settings().size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!make_a_pair(i, j)) continue;
      if (was_seen_with(*(first + static_cast<std::ptrdiff_t>(i)), j))
        ++pairs.seen;
      else if (why_never_together(i, j))
        ++pairs.refused;
      else
        pairs.unseen.push_back(settings()[j].name + " beside " + settings()[i].name);
    }
  }
  return pairs;
}

void count_pairs(Results& results) {
  if (results.triggers_required && !results.partial && results.shard.empty())
    results.pairs = pairs_of(results.triggers);
}

}  // namespace tally
