// A trace of several ranks taken apart: what each of them did is judged as one rank's training of its own part.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What rank `from` of so many handed over, "in.buffer.fc1.weight" of "reduce"; `trace` is one rank's part. By what it
/// handed over behind micro-batch k, or at the window's end where that is below 0; of a pipeline by its stage `pipe`.
const Tensor* handed_over(const Trace& trace, std::size_t ranks, std::size_t from, int window, int micro_batch,
                          const std::string& stage, const std::string& tensor, int pipe = -1);

/// Whether all ranks must hold the same bits of an output: the sum over them, what follows from sums alone, the
/// statistics of a micro-step and what these move, and the running values that all begin a window with.
bool is_shared(const Case& whole, const TapName& name);
/// "in.buffer." or "in.d.": the taps of what ranks hand to their sum at this place begin with it.
std::string handed_prefix(const Case& c, int micro_batch);

/// Where ranks share the optimizer, what each holds a piece of is put together again, and every rank's trace has its
/// group's whole; a tensor of which a piece is missing is missing.
struct RanksOfTrace {
  /// Both must outlive this object. One generation of a case whose ranks change has taps of its windows alone, and what
  /// those `before` it wrote down, which every rank's trace has put together.
  RanksOfTrace(const Case& whole, const Trace& trace, const RanksOfTrace* before = nullptr);

  const Case& whole;
  std::deque<Case> parts;
  std::vector<Trace> traces;  // each rank's taps, named as one rank alone has them
  std::size_t count() const { return parts.size(); }
  /// The name under which the whole trace has a rank's tap, and the other way round.
  std::string name_in_whole(const std::string& tap, std::size_t rank) const;
};

/// A trace whose number of ranks changes, generation by generation; of any other case all of it is one.
struct GenerationsOfTrace {
  /// Both must outlive this object.
  GenerationsOfTrace(const Case& whole, const Trace& trace);

  const Case& whole;
  std::deque<Case> cases;  // empty where the number never changes
  std::deque<RanksOfTrace> all;
  /// Which of them has a tap of the whole trace; the first has what is no tap.
  std::size_t with(const std::string& tap) const;
};

/// What rank 0 has, named as one rank alone has it; whole where ranks hold pieces.
Trace of_first_rank(const Case& whole, const Trace& trace);

/// Whether two ranks hold the same bits of everything from their sum in this window to its end, and of the copies that
/// the window began with; where they share the optimizer, but for what each found of its own pieces.
bool same_behind_sum(const Trace& one, const Trace& other, int window, bool own_findings = false);

/// What the ranks of one group hold pieces of, put together from the trace of all ranks; nothing where a piece is missing.
std::optional<Tensor> kept_by_group(const Case& whole, const Trace& all, const TapName& name, std::size_t group);
/// The rank of the first group whose piece of a parameter has this element. 0 where the tap holds no pieces.
std::size_t owner_of(const Case& whole, const TapName& name, const std::vector<std::int64_t>& element);
/// A rank's piece of a tensor that is whole; no element where it has none.
Tensor own_piece(const Case& part, const std::string& parameter, const Tensor& tensor);

/// The rank that a tap is of, 0 where it names none; and the tap as that rank alone has it.
std::size_t rank_of_tap(const std::string& tap);
std::string without_rank(const std::string& tap);

// What was found of ranks that train together, rank by rank and stage by stage.

/// By the checks on own bits of all windows; a row for neighbouring ranks of which the same was found. Empty where no
/// check names a rank, unless stages of a pipeline train the case: then each has rows of its own.
std::vector<RankRow> rank_rows(const Case& c, const std::vector<TensorCheck>& checks);

}  // namespace tally
