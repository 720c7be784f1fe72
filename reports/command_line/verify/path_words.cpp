#include "reports/command_line/verify/path_words.hpp"

#include <algorithm>

#include "reports/record/reached.hpp"
#include "reports/text/numbers.hpp"

namespace tally::command_line {
namespace {

std::string of_named(const std::vector<ReachedRow>& rows, std::string kernel) {
  std::replace(kernel.begin(), kernel.end(), '=', '/');
  std::size_t seen = 0, wanted = 0;
  std::string missing;
  for (const ReachedRow& row : rows) {
    if (row.group != kernel) continue;
    seen += row.seen();
    wanted += row.wanted();
    for (const ReachedRow::Item& item : row.items) {
      if (item.seen > 0 || !item.out_of_reach.empty()) continue;
      missing += "    did not run: " + (row.name.empty() ? "" : row.name + ": ") + item.name + "\n";
    }
  }
  const std::string counts = kernel + ": " + grouped(seen) + " of " + grouped(wanted) + " launch paths ran\n";
  return "  " + (missing.empty() ? counts : "warning: " + counts + missing);
}

/// Kernels that ran, and those of them that ran on all of their paths.
std::string of_all(const std::vector<ReachedRow>& rows) {
  std::size_t ran = 0, whole = 0;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t seen = 0, wanted = 0;
    const std::string& kernel = rows[i].group;
    for (; i < rows.size() && rows[i].group == kernel; ++i) seen += rows[i].seen(), wanted += rows[i].wanted();
    ran += seen > 0;
    whole += seen > 0 && seen == wanted;
  }
  if (ran == whole) return "";
  return "  warning: of " + grouped(ran) + " kernels that ran, " + grouped(ran - whole) +
         " did not run on all of their launch paths; the page says on which\n";
}

}  // namespace

std::string launch_path_words(const Results& results, const std::vector<std::string>& kernels) {
  if (results.triggers_required) return "";
  const std::vector<ReachedRow> rows = reached_rows(results.triggers, "path");
  std::string text;
  for (const std::string& kernel : kernels) text += of_named(rows, kernel);
  return kernels.empty() ? of_all(rows) : text;
}

}  // namespace tally::command_line
