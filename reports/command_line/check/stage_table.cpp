// What the lenses found, stage by stage, and suspects, for a terminal.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include "kernels/trace/tap_name.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/bound_terms.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/output.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

/// In the order of the checks, each tap once; `shown` where one of its comparisons says something.
struct Compared {
  const TensorCheck* first;
  bool shown;
};

std::vector<Compared> compared(const std::vector<TensorCheck>& checks) {
  std::vector<Compared> all;
  std::map<std::string_view, std::size_t> places;
  for (const TensorCheck& check : checks) {
    if (check.status == Status::not_run || check.elements == 0) continue;
    const auto [place, is_new] = places.emplace(check.tap, all.size());
    if (is_new) all.push_back({&check, false});
    all[place->second].shown = all[place->second].shown || check.status != Status::vacuous;
  }
  return all;
}

/// The window of a parameter after its step; nothing for any other tensor.
std::optional<int> step_of(const TensorCheck& check) {
  const auto name = tap_view_of(check.tap);
  const bool parameter = name && name->stage == StageName::optimizer && !name->tensor.starts_with("in.") &&
                         parameter_of_state(name->tensor).empty();
  return parameter ? std::optional<int>(name->window) : std::nullopt;
}

std::string numbers_of(const TensorCheck& check) {
  return check.tap + " has the bound " + significant(check.norm_bound) + " and the value " +
         significant(check.norm_expected) + ", both as norms";
}

}  // namespace

std::optional<int> window_not_shown(const std::vector<TensorCheck>& checks) {
  std::map<int, bool> shown;
  for (const Compared& tensor : compared(checks))
    if (const auto window = step_of(*tensor.first)) shown[*window] = shown[*window] || tensor.shown;
  for (const auto& [window, any] : shown)
    if (!any) return window;
  return std::nullopt;
}

std::string not_shown(const std::vector<TensorCheck>& checks) {
  const auto window = window_not_shown(checks);
  const TensorCheck* first = nullptr;
  std::size_t count = 0;
  for (const Compared& tensor : compared(checks)) {
    if (tensor.shown || (window && step_of(*tensor.first) != window)) continue;
    if (count++ == 0) first = tensor.first;
  }
  if (first == nullptr) return "";
  if (window)
    return "the step of window " + std::to_string(*window) + " is not shown, as every bound admits no step at all: " +
           (std::isinf(first->norm_bound) ? first->tap + " has an infinite bound" : numbers_of(*first)) +
           "; record tensors nearer to the step, such as its gradients";
  const std::string more = count == 1 ? "" : ", and " + counted(count - 1, "tensor") + " more";
  if (std::isinf(first->norm_bound)) return "not judged, as no taps of its inputs were recorded: " + first->tap + more;
  return "not shown, as the bound is at least as large as the value: " + numbers_of(*first) + more;
}

std::string suspect_list(const std::vector<Suspicion>& suspects) {
  std::string text;
  for (const Suspicion& s : suspects) {
    text += "  " + text_of(std::vector<Suspicion>{s}) + "\n    " + s.sentence + ":  " + s.formula + "\n";
  }
  return text.empty() ? "" : "suspects, likeliest first:\n" + text;
}

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

/// NaN is the largest.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

void count(Row& row, const TensorCheck& check) {
  ++row.checks;
  row.failed += check.status == Status::fail;
  row.vacuous += check.status == Status::vacuous;
  row.missing += check.status == Status::not_run;
  if (check.status == Status::vacuous || check.status == Status::not_run) return;
  double& worst = check.lens == "end_to_end" ? row.end_to_end : row.local;
  worst = larger(check.worst_ratio, worst);
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// How a tensor was judged.
const char* way_of(const std::string& lens) {
  return lens == "end_to_end" ? "from the case on" : lens == "group" ? "with the stages before it" : "by itself";
}

std::string named_element(const TensorCheck& check) {
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ",") + std::to_string(i);
  return check.tap + (index.empty() ? "" : " [" + index + "]");
}

std::string worst_in_short(const TensorCheck& check) {
  if (!check.message.empty()) return "  " + check.tap + ": " + check.message + "\n";
  return "  " + named_element(check) +
         formatted(": expected %.9g, got %.9g, error %.3g, bound %.3g\n", check.expected, check.got, check.error,
                   check.bound);
}

std::string worst_element(const TensorCheck& check) {
  if (!check.message.empty()) return "  " + check.tap + ", " + way_of(check.lens) + ": " + check.message + "\n";
  const std::string terms = text_of(check.terms), way = way_of(check.lens);
  return "  " + named_element(check) +
         formatted(" %s: expected %.9g (%a), got %.9g (%a), error %.3g, bound %.3g, error / bound %.3g\n", way.c_str(),
                   check.expected, check.expected, check.got, check.got, check.error, check.bound, check.worst_ratio) +
         (terms.empty() ? "" : "    the bound is " + terms + "\n") +
         formatted("    %llu elements, %llu differ, %llu over bound, %llu not finite\n",
                   static_cast<unsigned long long>(check.elements), static_cast<unsigned long long>(check.differing),
                   static_cast<unsigned long long>(check.over_bound),
                   static_cast<unsigned long long>(check.non_finite));
}

constexpr std::size_t most_tensors = 8;

std::string failing_tensors(const std::vector<TensorCheck>& checks, bool all_figures) {
  std::string text;
  std::set<std::string> shown;
  std::size_t told = 0;
  for (const TensorCheck& check : checks) {
    if (check.status != Status::fail || told == most_tensors) continue;
    const bool again = !shown.insert(check.tap).second;  // by another way of judging it
    if (again && !all_figures) continue;
    ++told;
    text += all_figures ? worst_element(check) : worst_in_short(check);
  }
  if (text.empty()) return "";
  return std::string("failing, in stage order") + (all_figures ? "" : " (--verbose: all figures)") + ":\n" + text;
}

/// What a word of the table means, where it is used.
std::string legend(const std::vector<Row>& rows) {
  const bool any = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.vacuous > 0; });
  return std::string(
             "error / bound: of the worst element, at most 1 where all are right; inf where a bound of 0 is broken\n") +
         (any ? "vacuous: the bound is wider than the value, so that the check shows nothing\n" : "");
}

int last_step(const std::vector<TensorCheck>& checks) {
  int last = -1;
  for (const TensorCheck& check : checks) {
    const auto name = tap_view_of(check.tap);
    if (name && name->stage == StageName::optimizer) last = std::max(last, name->window);
  }
  return last;
}

/// What the last step left of its state and nothing has read yet.
bool is_left_for_later(const TensorCheck& check, int last_step) {
  const auto name = tap_view_of(check.tap);
  return name && name->window == last_step && name->stage == StageName::optimizer && !name->tensor.starts_with("in.") &&
         !parameter_of_state(name->tensor).empty();
}

std::string nearest_to_its_limit(const std::vector<TensorCheck>& checks, bool all_figures) {
  const auto worst = worst_of(checks);
  if (worst.empty()) return "";
  const TensorCheck& check = checks[worst.front()];
  return "nearest to its limit:\n" + (all_figures ? worst_element(check) : worst_in_short(check));
}

std::string table_of(const std::vector<Row>& rows, bool all_figures) {
  std::string text =
      formatted("%-20s %7s %7s %8s %8s %14s", "stage", "checks", "failed", "vacuous", "not run", "error / bound") +
      (all_figures ? formatted(" %17s", "from the case on") : "") + "\n";
  for (const Row& row : rows) {
    text += formatted("%-20s %7d %7d %8d %8d %14.3g", row.stage.c_str(), row.checks, row.failed, row.vacuous,
                      row.missing, all_figures ? row.local : larger(row.local, row.end_to_end)) +
            (all_figures ? formatted(" %17.3g", row.end_to_end) : "") + "\n";
  }
  return text;
}

}  // namespace

std::string stage_table(const std::vector<TensorCheck>& checks, bool all_figures) {
  std::vector<Row> rows;
  for (const TensorCheck& check : checks) count(row_of(rows, check.stage), check);
  const std::string failing = failing_tensors(checks, all_figures);
  return table_of(rows, all_figures) + legend(rows) +
         (failing.empty() ? nearest_to_its_limit(checks, all_figures) : failing);
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
