// Walks two sorted lists of entries together.
#pragma once

#include <vector>

#include "reports/compare/entry.hpp"

namespace tally {

/// Calls pair(a, b) for what stands in both, before_only(a) and now_only(b) for the rest, in order.
template <class Pair, class BeforeOnly, class NowOnly>
void for_each_pair(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now, Pair pair,
                   BeforeOnly before_only, NowOnly now_only) {
  auto a = before.begin();
  auto b = now.begin();
  while (a != before.end() || b != now.end()) {
    if (b == now.end() || (a != before.end() && stands_before(*a, *b))) {
      before_only(*a++);
    } else if (a == before.end() || stands_before(*b, *a)) {
      now_only(*b++);
    } else {
      pair(*a++, *b++);
    }
  }
}

}  // namespace tally
