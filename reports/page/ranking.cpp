#include "reports/page/ranking.hpp"

#include <algorithm>

#include "reports/page/sections.hpp"

namespace tally {

Ranking::Ranking(const Results& results) : usual_(results), cases_(by_unusualness(results, usual_)) {
  const auto end = cases_.begin() + static_cast<std::ptrdiff_t>(std::min(listed_cases, cases_.size()));
  listed_.insert(cases_.begin(), end);
  for (const CaseRecord& c : results.cases) used_[&c] = used_of(c, usual_);
}

std::string Ranking::link_to(const CaseRecord& c) const { return lists(c) ? "#" + anchor_of(c) : ""; }

}  // namespace tally
