// How many threads one rule may use, and work on groups that do not touch each other by them.
#pragma once

#include "oracle/fixed/in_parts.hpp"

namespace tally::oracle {

/// 1 unless set. What a rule gives is the same for any number.
int threads_of_rules();
void set_threads_of_rules(int threads);

/// f(group) for each of so many, some in other threads, which have no scope that this one has.
template <class F>
void over_groups(Eigen::Index groups, F&& f) {
  fixed::in_parts(groups, threads_of_rules(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index group = first; group < end; ++group) f(group);
  });
}

}  // namespace tally::oracle
