#include "reports/command_line/check/stage_table.hpp"

#include <algorithm>
#include <cstdio>

#include "kernels/trace/trace.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "properties/compare/bound_terms.hpp"
#include "reports/command_line/check/vacuous_tensors.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

struct Row {
  std::string stage;
  int checks = 0, failed = 0, vacuous = 0, missing = 0;
  double local = 0, end_to_end = 0;
};

Row& row_of(std::vector<Row>& rows, const std::string& stage) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.stage == stage; });
  if (found != rows.end()) return *found;
  rows.emplace_back();
  rows.back().stage = stage;
  return rows.back();
}

void count(Row& row, const TensorCheck& check) {
  ++row.checks;
  row.failed += check.status == Status::fail;
  row.vacuous += check.status == Status::vacuous;
  row.missing += check.status == Status::not_run;
  if (check.status == Status::vacuous || check.status == Status::not_run) return;
  double& worst = check.lens == "end_to_end" ? row.end_to_end : row.local;
  worst = std::max(worst, check.worst_ratio);
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string worst_element(const TensorCheck& check) {
  if (!check.message.empty()) return "  " + check.tap + ", " + check.lens + ": " + check.message + "\n";
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ",") + std::to_string(i);
  const std::string terms = text_of(check.terms);
  return formatted("  %s [%s] %s lens: expected %.9g (%a), got %.9g (%a), error %.3g, bound %.3g, %.3gx\n",
                   check.tap.c_str(), index.c_str(), check.lens.c_str(), check.expected, check.expected, check.got,
                   check.got, check.error, check.bound, check.worst_ratio) +
         (terms.empty() ? "" : "    the bound is " + terms + "\n") +
         formatted("    %llu elements, %llu differ, %llu over bound, %llu not finite\n",
                   static_cast<unsigned long long>(check.elements), static_cast<unsigned long long>(check.differing),
                   static_cast<unsigned long long>(check.over_bound),
                   static_cast<unsigned long long>(check.non_finite));
}

std::string failing_tensors(const std::vector<TensorCheck>& checks) {
  std::string text;
  int shown = 0;
  for (const TensorCheck& check : checks) {
    if (check.status == Status::fail && shown++ < 8) text += worst_element(check);
  }
  return text.empty() ? "" : "failing, in stage order:\n" + text;
}

int last_step(const std::vector<TensorCheck>& checks) {
  int last = -1;
  for (const TensorCheck& check : checks) {
    const auto name = tap_view_of(check.tap);
    if (name && name->stage == "optimizer") last = std::max(last, name->window);
  }
  return last;
}

/// What the last step left of its state and nothing has read yet.
bool is_left_for_later(const TensorCheck& check, int last_step) {
  const auto name = tap_view_of(check.tap);
  return name && name->window == last_step && name->stage == "optimizer" && !name->tensor.starts_with("in.") &&
         !parameter_of_state(name->tensor).empty();
}

std::string nearest_to_its_limit(const std::vector<TensorCheck>& checks) {
  const auto worst = worst_of(checks);
  return worst.empty() ? "" : "nearest to its limit:\n" + worst_element(checks[worst.front()]);
}

}  // namespace

std::string stage_table(const std::vector<TensorCheck>& checks) {
  std::vector<Row> rows;
  for (const TensorCheck& check : checks) count(row_of(rows, check.stage), check);
  std::string text = formatted("%-16s %7s %7s %8s %8s %12s %12s\n", "stage", "checks", "failed", "vacuous", "not run",
                               "worst local", "worst e2e");
  for (const Row& row : rows) {
    text += formatted("%-16s %7d %7d %8d %8d %12.3g %12.3g\n", row.stage.c_str(), row.checks, row.failed, row.vacuous,
                      row.missing, row.local, row.end_to_end);
  }
  const std::string failing = failing_tensors(checks);
  return text + (failing.empty() ? nearest_to_its_limit(checks) : failing);
}

int exit_code_of(const std::vector<TensorCheck>& checks) {
  const auto has = [&](Status status) {
    return std::any_of(checks.begin(), checks.end(), [&](const TensorCheck& check) { return check.status == status; });
  };
  if (has(Status::fail) || has(Status::error)) return failed;
  const int last = last_step(checks);
  const bool too_little = std::any_of(checks.begin(), checks.end(), [&](const TensorCheck& check) {
    return check.status == Status::not_run && !is_left_for_later(check, last);
  });
  return has(Status::pass) && !too_little && !window_not_shown(checks) ? pass : nothing_ran;
}

}  // namespace tally::command_line
