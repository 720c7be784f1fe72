#include "reports/command_line/verify/rank_table.hpp"

#include <algorithm>
#include <map>

#include "kernels/trace/pipe_tag.hpp"
#include "kernels/trace/tap_name.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "reports/text/columns.hpp"

namespace tally::command_line {
namespace {

struct RankLine {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  std::string first;  // "w0/m1/loss", where the first fails
  friend bool operator==(const RankLine&, const RankLine&) = default;
};

/// The stage of a pipeline and the rank that a tap is of, each -1 where there are not several.
using Process = std::pair<int, int>;
Process process_of(const Case& c, const TensorCheck& check) {
  const auto name = tap_view_of(check.tap);
  if (!name) return {-1, -1};
  return {is_pipelined(c) ? stage_of_tap(c, tap_name_of(check.tap)) : -1, name->rank};
}

/// Window, micro-batch and stage of a tap.
std::string place_of(const std::string& tap) {
  const TapName name = of_rank(tap_name_of(tap), -1);
  const std::string text = name.text();
  return text.substr(0, text.size() - name.tensor.size() - 1);
}

void count(RankLine& row, const TensorCheck& check) {
  ++row.checks;
  row.failed += check.status == Status::fail;
  row.vacuous += check.status == Status::vacuous;
  row.not_run += check.status == Status::not_run;
  if (check.status == Status::fail && row.first.empty()) row.first = place_of(check.tap);
}

}  // namespace

std::string rank_table(const Case& c, const std::vector<TensorCheck>& checks) {
  std::map<Process, RankLine> found;
  for (const TensorCheck& check : checks)
    if (const Process process = process_of(c, check); process != Process(-1, -1)) count(found[process], check);
  if (found.empty()) return "";
  const bool in_stages = is_pipelined(c), in_ranks = most_ranks_of(c) > 1;
  const std::string what = in_stages && in_ranks ? "stage/rank" : in_stages ? "stage" : "rank";
  std::vector<std::vector<std::string>> rows = {{what, ">checks", ">failed", ">vacuous", ">not run", "first fails"}};
  for (auto first = found.begin(); first != found.end();) {
    auto last = first;
    const auto is_next = [&](const auto& other) {
      return other.first.first == first->first.first && other.second == first->second;
    };
    while (std::next(last) != found.end() && is_next(*std::next(last))) ++last;
    const auto [stage, rank] = first->first;
    std::string name = in_stages ? std::to_string(stage) + (in_ranks ? "/" : "") : "";
    if (in_ranks) name += std::to_string(rank) + (last == first ? "" : "-" + std::to_string(last->first.second));
    const RankLine& row = first->second;
    rows.push_back({name, std::to_string(row.checks), std::to_string(row.failed), std::to_string(row.vacuous),
                    std::to_string(row.not_run), row.first});
    first = std::next(last);
  }
  return columns(rows);
}

std::vector<TensorCheck> checks_of(const Case& c, const std::vector<TensorCheck>& checks, int rank, int pipe) {
  std::vector<TensorCheck> own;
  std::ranges::copy_if(checks, std::back_inserter(own), [&](const TensorCheck& each) {
    const auto [stage, of_rank] = process_of(c, each);
    return (rank < 0 || of_rank == rank) && (pipe < 0 || stage == pipe);
  });
  return own;
}

}  // namespace tally::command_line
