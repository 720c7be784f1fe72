#include "reports/command_line/rank_table.hpp"

#include <algorithm>
#include <map>

#include "kernels/trace/tap_name.hpp"
#include "reports/text/columns.hpp"

namespace tally::command_line {
namespace {

struct Row {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  std::string first;  // "w0/m1/loss", where the first fails
  friend bool operator==(const Row&, const Row&) = default;
};

int rank_of(const TensorCheck& check) {
  const auto name = tap_view_of(check.tap);
  return name ? name->rank : -1;
}

/// Window, micro-batch and stage of a tap.
std::string place_of(const std::string& tap) {
  const TapName name = of_rank(tap_name_of(tap), -1);
  const std::string text = name.text();
  return text.substr(0, text.size() - name.tensor.size() - 1);
}

void count(Row& row, const TensorCheck& check) {
  ++row.checks;
  row.failed += check.status == Status::fail;
  row.vacuous += check.status == Status::vacuous;
  row.not_run += check.status == Status::not_run;
  if (check.status == Status::fail && row.first.empty()) row.first = place_of(check.tap);
}

}  // namespace

std::string rank_table(const std::vector<TensorCheck>& checks) {
  std::map<int, Row> ranks;
  for (const TensorCheck& check : checks)
    if (const int rank = rank_of(check); rank >= 0) count(ranks[rank], check);
  if (ranks.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"rank", ">checks", ">failed", ">vacuous", ">not run", "first fails"}};
  for (auto first = ranks.begin(); first != ranks.end();) {
    auto last = first;
    while (std::next(last) != ranks.end() && std::next(last)->second == first->second) ++last;
    const Row& row = first->second;
    const std::string name = std::to_string(first->first) + (last == first ? "" : "-" + std::to_string(last->first));
    rows.push_back({name, std::to_string(row.checks), std::to_string(row.failed), std::to_string(row.vacuous),
                    std::to_string(row.not_run), row.first});
    first = std::next(last);
  }
  return columns(rows);
}

std::vector<TensorCheck> checks_of_rank(const std::vector<TensorCheck>& checks, int rank) {
  std::vector<TensorCheck> own;
  std::ranges::copy_if(checks, std::back_inserter(own), [&](const TensorCheck& each) { return rank_of(each) == rank; });
  return own;
}

}  // namespace tally::command_line
