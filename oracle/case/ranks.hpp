// Ranks that train together: how a window's micro-batches are dealt to them, and one rank's part of a case.
#pragma once

#include <cstddef>
#include <string>

#include "oracle/case/case.hpp"

namespace tally {

/// Whether a case is run by ranks that add up their gradients: it deals micro-batches, or says how one rank alone
/// would.
bool in_ranks(const Case& c);

/// How many train a window, empty ones too; 1 where one rank has all.
std::size_t ranks_of(const Case& c, std::size_t window);
/// The same in every window. Throws std::logic_error where it changes from one window to the next: a bug, as such a
/// case is run and judged by its generations (generations.hpp).
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

}  // namespace tally
