#include "properties/compare/rank_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/trace/pipe_tag.hpp"
#include "kernels/trace/stage_place.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/pipeline.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
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
    return name && name->stage == "reduce" && name->tensor.starts_with("in.d.");
  });
}

}  // namespace

std::vector<RankRow> rank_rows(const Case& c, const std::vector<TensorCheck>& checks) {
  using Rank = std::pair<int, int>;  // the stage of a pipeline, -1 where a rank holds all, and the rank
  std::map<Rank, std::map<std::pair<std::ptrdiff_t, std::string>, RankStage>> found;  // in stage order
  const bool behind_sums = sums_gradients(checks), in_stages = is_pipelined(c);
  const TensorCheck* const first = in_stages ? first_failure(checks) : nullptr;
  const auto place_of = [&](const std::string& stage) {
    return behind_sums && stage == "accumulate" ? 2 * place_of_stage("reduce") + 1 : 2 * place_of_stage(stage);
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
