// What has been run and what has to be, ways to deal the rows of a window, whether the whole batch can be held against
// them, and the terms of its loss.
#pragma once

#include <optional>
#include <vector>

#include "reports/record/vary.hpp"

namespace tally {

// What has been run, and what has to be before there is a verdict.

class RunBook {
 public:
  explicit RunBook(const VaryRuns& runs) : runs_(runs) {}

  /// Null where it is not there: it is asked for then.
  const VaryRun* run(const HowRun& how);
  const VaryWeights* weights(const HowWeights& how);
  /// Null where it is not there, and nothing is asked.
  const VaryRun* found(const HowRun& how) const;

  const VaryRuns& runs() const { return runs_; }
  const VaryAsks& asks() const { return asks_; }

 private:
  const VaryRuns& runs_;
  VaryAsks asks_;
};

// Ways to deal the rows of a window into micro-batches.

/// Those that are tried, each once, the coarsest kinds first: equal ones, a short last one, two uneven ones that are
/// drawn from the seed, single rows. Where the loop takes equal ones alone: all of these. Behind them those of several
/// ranks, so that what one rank does wrong by itself is found there.
std::vector<Partition> partitions_of(const VaryRuns& runs);

/// Nearer to the whole: two neighbours put together. None of the whole itself, and of several ranks.
std::vector<Partition> coarser(const Partition& sizes);

bool is_equal(const Partition& sizes);

// Whether the loop on the whole batch can be held against anything, and whether the partitions have its rows.

/// False where runs are asked for, or the report says why it cannot.
bool whole_batch_stands(VaryReport& report, RunBook& book);

/// The same run a second time, of a whole batch that stands: asked before anything is held against a loop. Where all is
/// rounding, every partition has repeated it. False as above.
bool whole_batch_repeats(VaryReport& report, RunBook& book);

/// Whether the runs of this partition are there and hold other rows than the whole batch. The report then says so, or
/// runs are asked for.
bool hold_other_rows(VaryReport& report, RunBook& book, const Partition& sizes);

// A loss of several terms, each of which has weights of its own.

/// The first term that differs from what it should be, where all terms are sums of the micro-batches' own.
std::optional<std::size_t> wrong_part(const VaryWeights& weights, double sharpness);

/// Those of a term alone.
VaryWeights weights_of(const VaryWeights& weights, std::size_t index);

/// Weights of another partition, or of the same term there. Nothing where these explain too little.
std::optional<VaryWeights> as_told(const VaryWeights& weights, std::optional<std::size_t> part, double sharpness);

/// "kl_div at train.py:31, one of the loss's 2 terms, is wrong and the other is right".
std::string whose_text(const VaryWeights& weights, std::size_t part, double sharpness);

}  // namespace tally
