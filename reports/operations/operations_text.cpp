#include "reports/operations/operations_text.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "reports/record/json.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

using nlohmann::json;

constexpr std::size_t failures_shown = 5;
constexpr std::size_t kinds_shown = 5;

std::string number(double value, const char* format = "%.9g") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (const std::int64_t value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

std::string operations_of(std::int64_t count) { return counted(static_cast<std::uint64_t>(count), "operation"); }

json place_json(const OperationPlace& place) {
  return {{"number", place.number}, {"step", place.step},     {"operation", place.operation},
          {"where", place.where},   {"module", place.module}, {"phase", place.phase}};
}

json counts_json(const OperationCounts& counts) {
  json all{{"operations", counts.operations},
           {"judged", counts.held},
           {"nothing_to_hold", counts.nothing},
           {"not_judged", counts.not_judged},
           {"failed", counts.failed},
           {"elements", counts.elements},
           {"undecided_elements", counts.undecided},
           {"vacuous_results", counts.vacuous},
           {"worst_ratio", json_of_number(counts.worst)}};
  if (counts.worst > 0) all["worst_at"] = place_json(counts.at);
  return all;
}

template <class Map>
json table_json(const Map& map) {
  json all = json::object();
  for (const auto& [name, counts] : map) all[name] = counts_json(counts);
  return all;
}

json result_json(const JudgedResult& result) {
  return {{"name", result.name},
          {"format", result.format},
          {"sizes", result.sizes},
          {"elements", result.elements},
          {"wrong", result.wrong},
          {"undecided", result.undecided},
          {"worst_ratio", json_of_number(result.worst)},
          {"spread", json_of_number(result.spread)},
          {"place", result.place},
          {"found", json_of_number(result.found)},
          {"expected", json_of_number(result.expected)},
          {"allowed", json_of_number(result.allowed)},
          {"failed", result.fails()}};
}

std::string headline(const JudgedRecording& judged) {
  if (judged.all.failed > 0)
    return "FAIL: " + operations_of(judged.all.failed) + (judged.all.failed == 1 ? " leaves" : " leave") +
           " what no legal evaluation of " + (judged.all.failed == 1 ? "it" : "them") + " leaves\n";
  if (judged.all.held == 0) return "NOT JUDGED: no operation of the recording could be judged\n";
  return "PASS: every operation that was judged is a legal evaluation of itself\n";
}

std::string indented(std::string text) { return "  " + std::move(text) + "\n"; }

}  // namespace

std::string wrong_text(const JudgedResult& result) {
  if (result.imprecise)
    return "errors are " + number(result.spread, "%.3g") +
           " times what independent roundings leave: it computes less precisely than it says";
  std::string text =
      "element " + list(result.place) + ": found " + number(result.found) + ", expected " + number(result.expected);
  if (result.allowed > 0)
    text += " \u00B1 " + number(result.allowed, "%.2g") + " (r = " + number(result.worst, "%.3g") + ")";
  return text + "; " + std::to_string(result.wrong) + " of " +
         counted(static_cast<std::uint64_t>(result.elements), "element");
}

std::string place_text(const OperationPlace& place) {
  std::string text = place.operation;
  if (!place.phase.empty()) text += ", " + place.phase;
  if (!place.where.empty()) text += " at " + place.where;
  if (!place.module.empty()) text += ", module " + place.module;
  return text;
}

std::string operations_text(const JudgedRecording& judged, const std::string& folder) {
  std::string text = headline(judged);
  const std::size_t shown = std::min(failures_shown, judged.failures.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FailedOperation& failure = judged.failures[i];
    text += indented("operation " + std::to_string(failure.place.number) + ": " + place_text(failure.place));
    for (const JudgedResult& result : failure.judged.results)
      if (result.fails())
        text +=
            indented("  " + result.name + " " + list(result.sizes) + " " + result.format + ", " + wrong_text(result));
  }
  if (judged.all.failed > static_cast<std::int64_t>(shown))
    text += indented("and " + operations_of(judged.all.failed - static_cast<std::int64_t>(shown)) + " more");
  if (judged.first_non_finite)
    text += indented("the first that makes infinities or NaN of finite numbers: operation " +
                     std::to_string(judged.first_non_finite->number) + ", " + place_text(*judged.first_non_finite));
  const OperationCounts& all = judged.all;
  text += indented(folder + ": PyTorch " + judged.header.framework + ", " + std::to_string(all.held) + " of " +
                   operations_of(all.operations) + " judged in " +
                   counted(static_cast<std::uint64_t>(all.elements), "element") + ", " + std::to_string(all.nothing) +
                   " have nothing to hold (views, drawn numbers), " + std::to_string(all.not_judged) + " not judged");
  if (all.worst > 0)
    text += indented("the nearest to its bound: r = " + number(all.worst, "%.3g") + ", operation " +
                     std::to_string(all.at.number) + ": " + place_text(all.at));
  if (all.undecided > 0)
    text += indented(counted(static_cast<std::uint64_t>(all.undecided), "element") +
                     " undecided: whether they overflow is no rule's to say");
  if (all.vacuous > 0)
    text += indented(counted(static_cast<std::uint64_t>(all.vacuous), "result") +
                     " vacuous: as much is allowed as there is");
  std::vector<std::pair<std::string, NotJudgedOperations>> reasons(judged.not_judged.begin(), judged.not_judged.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second.operations > b.second.operations; });
  for (std::size_t i = 0; i < std::min(kinds_shown, reasons.size()); ++i)
    text += indented("not judged: " + reasons[i].first + "; " + operations_of(reasons[i].second.operations) +
                     ", the first " + place_text(reasons[i].second.first));
  if (reasons.size() > kinds_shown)
    text += indented("and for " + std::to_string(reasons.size() - kinds_shown) + " more reasons (--json)");
  for (const std::string& unseen : judged.unseen) text += indented("not seen: " + unseen);
  if (!judged.ended) text += indented("the recording has no end: the run was killed, and is judged up to there");
  return text;
}

std::string operations_json(const JudgedRecording& judged) {
  json all{{"tally", "judged operations"},
           {"framework", judged.header.framework},
           {"all", counts_json(judged.all)},
           {"by_operation", table_json(judged.by_operation)},
           {"by_module", table_json(judged.by_module)},
           {"by_phase", table_json(judged.by_phase)},
           {"unseen", judged.unseen},
           {"ended", judged.ended},
           {"seen", judged.seen}};
  json failures = json::array(), reasons = json::array();
  for (const FailedOperation& failure : judged.failures) {
    json results = json::array();
    for (const JudgedResult& result : failure.judged.results) results.push_back(result_json(result));
    failures.push_back({{"at", place_json(failure.place)}, {"results", results}});
  }
  for (const auto& [why, which] : judged.not_judged)
    reasons.push_back({{"why", why}, {"operations", which.operations}, {"first", place_json(which.first)}});
  all["failures"] = failures;
  all["not_judged"] = reasons;
  if (judged.first_non_finite) all["first_non_finite"] = place_json(*judged.first_non_finite);
  return canonical_text(all);
}

}  // namespace tally
