// Plans whose micro-batches several ranks share, and what ranks sent each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ranks/fibres.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// Two to eight ranks, of one in six plans of several windows another number in some of these; each algorithm,
/// division, wire, layout of buckets, arrival and time of adding up in turn. Where micro-batches normalise their rows,
/// each keeps to its own.
void dealt_to_ranks(Plan& plan);
/// Another number of ranks in some of its windows, two at least, from one to eight; in a multiple of the replicas.
/// Running values are then the first rank's.
void change_ranks(Plan& plan);
/// As many ranks in every window.
void keep_ranks(Plan& plan);
/// The same, by each normalisation that ranks may have.
void dealt_to_ranks_by_any_normalisation(Plan& plan);
/// When the ranks add up, without what the rules refuse beside it.
void communicate(Plan& plan, const std::string& word);
/// What the ranks share, without what the rules refuse beside it; Adam steps where the optimizer cannot be shared.
void share(Plan& plan, const std::string& word);
/// A division around the sum that rounds nothing, where there is one; else none. Behind dealt_to_ranks().
void divide_exactly(Plan& plan);
/// The case with its sums made by each algorithm, and with each format that may travel; additions in fp32 only where
/// they may stand beside it.
std::vector<Case> by_every_algorithm(const Case& c);
std::vector<Case> by_every_wire(const Case& c);
/// A trace of sums over ranks that are exact: their order is then nobody's matter, and bits are asked of every algorithm.
Trace of_exact_sums(Trace trace);
/// The case with its ranks sharing that, all of them together.
Case shared_as(Case c, const std::string& word);
/// No rows are normalised by what they come to: their gradients do not depend on how they are cut.
void freeze_batch_norm(Plan& plan);
/// The case with one rank that has all micro-batches.
Case on_one_rank(Case c);
/// Not run, with the reason, where a case that was not drawn for the law has no ranks.
bool has_ranks(const Case& c);
inline constexpr const char* needs_ranks = "a case whose micro-batches are dealt to ranks";

// What the ranks of a case sent each other, as they counted it.

/// By one process in a window, about one stage; 0 where it sent nothing.
std::uint64_t bytes_sent(const TrafficScope& scope, std::size_t process, int window, const std::string& stage);
/// By all processes in a run of the case, whatever about.
std::uint64_t all_bytes_sent(const Case& c, const RunOptions& subject);

}  // namespace tally
