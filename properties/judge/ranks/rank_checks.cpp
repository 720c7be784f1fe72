// What was found of every rank, as checks of the whole trace, and as rows of a table.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/tap_name.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

namespace tally {

namespace {

/// How many ranks further the next one holds the same bits of an output: the next rank, of pieces the next group's first;
/// 0 where none does.
std::size_t next_alike(const Case& whole, const TapName& name) {
  if (sharded_parameter(whole, name.stage, name.tensor, name.micro_batch).empty())
    return is_shared(whole, name) ? 1 : 0;
  const bool behind_all = name.micro_batch < 0 && part_of_window(name.stage, name.tensor) >= 2;
  return behind_all && replicas_of(whole) > 1 ? sharers_of(whole) : 0;
}

}  // namespace

std::vector<TensorCheck> disagreements(const RanksOfTrace& ranks) {
  std::vector<TensorCheck> found;
  const PromisedBits promised(ranks.traces.front());
  for (const Tap& tap : ranks.traces.front().taps()) {
    const std::size_t step = promised.of(tap.name) ? next_alike(ranks.whole, tap.name) : 0;
    for (std::size_t rank = step; step > 0 && rank < ranks.count(); rank += step) {
      const Tensor* other = ranks.traces[rank].find(tap.name.view());
      if (other == nullptr) continue;  // its own lenses name what is missing
      const std::string name = ranks.name_in_whole(tap.name.text(), rank);
      TensorCheck check = bitwise_check(name, tap.name.stage, tap.value, *other);
      if (check.status != Status::fail) continue;
      check.lens = "local";
      found.push_back(std::move(check));
    }
  }
  return found;
}

namespace {

/// The rank of a group, which begins with `first`, whose piece has the worst element; of a tensor that is not all there,
/// the first that has a piece.
std::size_t holder_of(const RanksOfTrace& ranks, const Trace& trace, std::size_t first, const TapName& name,
                      const TensorCheck& check) {
  const std::size_t owner = first + owner_of(ranks.whole, name, check.worst_index);
  if (ranks.whole.dealt.empty() || trace.find(of_rank(name, static_cast<int>(owner)).view()) != nullptr) return owner;
  for (std::size_t rank = first; rank < first + sharers_of(ranks.whole); ++rank)
    if (trace.find(of_rank(name, static_cast<int>(rank)).view()) != nullptr) return rank;
  return owner;
}

}  // namespace

std::vector<TensorCheck> checks_of_whole(const RanksOfTrace& ranks, const Trace& trace,
                                         const std::vector<GroupedChecks>& of_each) {
  std::vector<TensorCheck> on_own_bits, end_to_end;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank) {
    for (const TensorCheck& own : of_each[rank].checks) {
      const TapName name = tap_name_of(own.tap);
      const bool in_pieces = !sharded_parameter(ranks.whole, name.stage, name.tensor, name.micro_batch).empty();
      if (in_pieces && rank % sharers_of(ranks.whole) > 0) continue;  // the first of its group has all pieces
      TensorCheck& check = (own.lens == "end_to_end" ? end_to_end : on_own_bits).emplace_back(own);
      check.tap = ranks.name_in_whole(own.tap, in_pieces ? holder_of(ranks, trace, rank, name, own) : rank);
    }
  }
  for (TensorCheck& check : disagreements(ranks)) on_own_bits.push_back(std::move(check));
  std::vector<TensorCheck> all = in_order(trace, std::move(on_own_bits));
  end_to_end = in_order(trace, std::move(end_to_end));
  all.insert(all.end(), std::move_iterator(end_to_end.begin()), std::move_iterator(end_to_end.end()));
  return all;
}

std::vector<TensorCheck> checks_of_whole(const GenerationsOfTrace& generations, const Trace& trace,
                                         const std::vector<std::vector<GroupedChecks>>& of_each) {
  if (generations.all.size() == 1) return checks_of_whole(generations.all.front(), trace, of_each.front());
  std::vector<TensorCheck> all;
  for (std::size_t i = 0; i < generations.all.size(); ++i)
    for (TensorCheck& check : checks_of_whole(generations.all[i], trace, of_each[i])) all.push_back(std::move(check));
  std::ranges::stable_partition(all, [](const TensorCheck& check) { return check.lens != "end_to_end"; });
  return all;
}

namespace {

/// The graver one, in the order of verdicts.
int gravity(Status status) {
  switch (status) {
    case Status::fail:
    case Status::error:
      return 3;
    case Status::not_run:
      return 2;
    case Status::vacuous:
      return 1;
    default:
      return 0;
  }
}

void take_check(RankStage& stage, const TensorCheck& check, bool first) {
  stage.failed += check.status == Status::fail;
  if (first || gravity(check.status) > gravity(stage.status)) stage.status = check.status;
}

/// Gradients that are summed over ranks are added to the buffers behind their sum.
bool sums_gradients(const std::vector<TensorCheck>& checks) {
  return std::ranges::any_of(checks, [](const TensorCheck& check) {
    const auto name = tap_view_of(check.tap);
    return name && name->stage == StageName::reduce && name->tensor.starts_with("in.d.");
  });
}

}  // namespace

std::vector<RankRow> rank_rows(const Case& c, const std::vector<TensorCheck>& checks) {
  using Rank = std::pair<int, int>;  // the stage of a pipeline, -1 where a rank holds all, and the rank
  std::map<Rank, std::map<std::pair<std::ptrdiff_t, std::string>, RankStage>> found;  // in stage order
  const bool behind_sums = sums_gradients(checks), in_stages = is_pipelined(c);
  const TensorCheck* const first = in_stages ? first_failure(checks) : nullptr;
  const auto place_of = [&](const std::string& stage) {
    return behind_sums && stage == StageName::accumulate ? 2 * place_of_stage("reduce") + 1 : 2 * place_of_stage(stage);
  };
  for (const TensorCheck& check : checks) {
    const auto name = tap_view_of(check.tap);
    const bool of_the_run = check.lens == "end_to_end" || check.lens == "relation";
    if (!name || (name->rank < 0 && !in_stages) || (of_the_run && &check != first)) continue;
    const Rank rank(in_stages ? stage_of_tap(c, tap_name_of(check.tap)) : -1, std::max(name->rank, 0));
    const std::string stage(name->stage);
    const auto [at, fresh] = found[rank].emplace(std::pair(place_of(stage), stage), RankStage{stage});
    take_check(at->second, check, fresh);
    at->second.first = at->second.first || &check == first;
  }
  std::vector<RankRow> rows;
  for (const auto& [rank, stages] : found) {
    std::vector<RankStage> own;
    for (const auto& [place, stage] : stages) own.push_back(stage);
    const auto is_next = [&](const RankRow& row) { return row.pipe == rank.first && row.last == rank.second - 1; };
    if (!rows.empty() && is_next(rows.back()) && rows.back().stages == own)
      rows.back().last = rank.second;
    else
      rows.push_back({rank.second, rank.second, std::move(own), rank.first});
  }
  return rows;
}

}  // namespace tally
