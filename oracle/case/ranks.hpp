// Ranks that train together: how micro-batches are dealt to them, worlds whose number of ranks changes, and micro-steps
// of all ranks with the statistics that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// Ranks that train together: how a window's micro-batches are dealt to them, and one rank's part of a case.

/// Whether a case is run by ranks that add up their gradients: it deals micro-batches, or says how one rank alone
/// would.
bool in_ranks(const Case& c);

/// How many train a window, empty ones too; 1 where one rank has all.
std::size_t ranks_of(const Case& c, std::size_t window);
/// The same in every window. Throws std::logic_error where it changes from one window to the next: a bug, as such a
/// case is run and judged by its generations (ranks.hpp).
std::size_t ranks_of(const Case& c);
/// The largest number of ranks in any window.
std::size_t most_ranks_of(const Case& c);

/// Micro-batches of one rank in a window, K_r, and the first of them among all of the window.
std::size_t micro_batches_of(const Case& c, std::size_t window, std::size_t rank);
std::size_t first_micro_batch_of(const Case& c, std::size_t window, std::size_t rank);
/// The rank that has micro-batch k of a window.
std::size_t rank_with(const Case& c, std::size_t window, std::size_t micro_batch);
/// R', the ranks that have a micro-batch in a window.
std::size_t busy_ranks_of(const Case& c, std::size_t window);

/// When ranks add up: their buffers at the window's end, every micro-batch's gradient, or their buffers behind every
/// micro-batch.
enum class Communicate { window, micro_batch, running_total };
Communicate communicate_of(const Case& c);
/// Whether something is added up behind every micro-batch.
bool communicates_each(const Case& c);
/// The most micro-batches that any rank has in a window: as often do all ranks add up where they do for each.
std::size_t micro_steps_of(const Case& c, std::size_t window);

/// Whether what steps the parameters lives on the host executor.
bool offloads(const Case& c);

/// One rank's part: its own rows, cut as they are dealt to it, and everything else of the case. It is a case of one
/// rank but for what it divides by, which is the whole's; a window may be empty. Keeps a pointer to `whole`, which has
/// to outlive it; no file holds such a case.
Case part_of(const Case& whole, std::size_t rank);
/// The case that a part is of; any other case itself.
const Case& whole_of(const Case& c);

/// `$.windows[1][0]`, or `$.windows[1][2][0]` of the rank that has it.
std::string micro_batch_path(const Case& c, std::size_t window, std::size_t micro_batch);

// Worlds that change: windows in a row that as many ranks train, and the case that each such run of windows is.

/// The windows [first, last), as many as follow each other with the same number of ranks.
struct Generation {
  std::size_t first = 0, last = 0, ranks = 1;
};

/// In order; one of all windows where the number of ranks never changes.
std::vector<Generation> generations_of(const Case& c);
/// Which of them a window belongs to.
std::size_t generation_with(const Case& c, std::size_t window);
/// Whether it changes.
bool is_elastic(const Case& c);

/// One generation as a case of its own: its windows with their rows, and in the places of all others empty ones of as
/// many ranks, so that every window keeps its number. Its tensors are those that the whole training begins with. Where
/// the number of ranks never changes, the case itself. No file holds such a case.
Case generation_of(const Case& whole, std::size_t which);

/// Whether a window belongs to the generation that this case is, or that it is a rank's part of. True of every window
/// of any other case.
bool trains_window(const Case& c, std::size_t window);
/// Whether the ranks begin this window with what those before them wrote down, and whether they write it down behind
/// it.
bool begins_from_checkpoint(const Case& c, std::size_t window);
bool leaves_checkpoint(const Case& c, std::size_t window);

// Synchronised batch_norm: statistics over a micro-step, the k-th micro-batch of every rank that has one.

/// Whether the layer is a batch_norm of "micro_step" statistics. The statistics of one rank are those of its
/// micro-batches.
bool takes_step_statistics(const Layer& layer);
/// Whether ranks put its statistics together: the case is run by ranks, of which there may be one.
bool pools_steps(const Case& c, const Layer& layer);
/// Whether they do so for any layer.
bool pools_steps(const Case& c);
/// Whether its statistics are those of parts of a window, of which the full batch makes one.
bool normalises_parts(const Layer& layer);

/// What ranks hand over for them: the option `execution.ranks.statistics`.
enum class StepStatistics {
  moments,  // mean and variance of their own rows, which are merged
  sums,     // sums of x and of x², added
  two_pass  // sums of x, then of squares of deviations from the common mean
};
StepStatistics step_statistics_of(const Case& c);
/// What travels first, in the order in which it does: "mean" and "var", "sum" and "sum_squares", or "sum", behind which
/// "squares" follow.
std::vector<std::string> step_tensors(StepStatistics by);

/// The rows that each rank of the whole case has in micro-step k of a window; 0 where it has no such micro-batch.
std::vector<std::int64_t> step_counts(const Case& c, std::size_t window, std::size_t step);
/// Their sum.
std::int64_t rows_of_step(const Case& c, std::size_t window, std::size_t step);

// Whose running values a batch_norm of several ranks has: the option `running`.

/// Whether the layer says another than the default, "first_rank".
bool says_running(const Layer& layer);
/// Whether every rank of the whole case keeps running values of its own. False where one rank trains.
bool keeps_each_running(const Case& c, const Layer& layer);
/// Whether ranks begin every window with the running values of the first, as DDP hands out its buffers.
bool takes_first_running(const Case& c, const Layer& layer);
/// The layers of one rank, of whose running values nothing is said.
void forget_running(std::vector<Layer>& layers);
/// How many running values of the layer the exact answer has: one, or one for each rank.
std::size_t running_values_of(const Case& c, const Layer& layer);

}  // namespace tally
