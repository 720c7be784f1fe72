#include "reports/operations/operations_text.hpp"

#include <algorithm>

#include "reports/operations/operations_words.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t failures_shown = 5;
constexpr std::size_t reasons_shown = 5;

std::string indented(const std::string& text) { return "  " + one_line(text) + "\n"; }

std::string result_text(const JudgedResult& result) {
  return result.name + " " + short_list(result.sizes) + " " + result.format;
}

std::string operations_of(std::int64_t count) { return counted(static_cast<std::uint64_t>(count), "operation"); }

std::string failures_text(const JudgedRecording& judged) {
  std::string text;
  const std::size_t shown = std::min(failures_shown, judged.failures.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const JudgedOperation& failure = judged.failures[i];
    text += indented((i == 0 ? "first: " : "") + place_text(failure.place));
    for (const JudgedResult& result : failure.judged.results)
      if (result.fails()) text += "  " + indented(result_text(result) + ", " + wrong_text(result));
  }
  const std::int64_t more = judged.all.failed - static_cast<std::int64_t>(shown);
  return text + (more > 0 ? indented("and " + operations_of(more) + " more") : "");
}

std::string not_judged_text(const JudgedRecording& judged) {
  std::string text;
  const auto reasons = by_number(judged);
  for (std::size_t i = 0; i < std::min(reasons_shown, reasons.size()); ++i)
    text += indented("not judged: " + reasons[i].first + "; " + operations_of(reasons[i].second.operations) +
                     ", the first " + stand_text(reasons[i].second.first));
  if (reasons.size() > reasons_shown)
    text += indented("and for " + counted(reasons.size() - reasons_shown, "more reason"));
  return text;
}

}  // namespace

std::string operations_text(const JudgedRecording& judged, const std::string& folder, const OperationFiles& files) {
  const auto [word, sentence] = verdict_of(judged);
  std::string text = word + ": " + one_line(sentence) + "\n" + failures_text(judged);
  if (!judged.failures.empty()) {
    if (!files.script.empty()) text += indented("repeat the first: python3 " + shell_word(files.script));
    text += indented("all of its results: tally check-operations " + shell_word(folder) + " --operation " +
                     std::to_string(judged.failures.front().place.number));
  }
  if (judged.first_non_finite)
    text +=
        indented("the first that makes infinities or NaN of finite numbers: " + place_text(*judged.first_non_finite));
  text += indented(folder + ": " + extent_of(judged));
  const OperationCounts& all = judged.all;
  if (all.worst > 0 && all.failed == 0)
    text += indented("nearest to its bound, at " + significant(all.worst) + " of it: " + place_text(all.at));
  if (all.undecided > 0)
    text += indented(counted(static_cast<std::uint64_t>(all.undecided), "element") +
                     " undecided: they may overflow, or be divided by 0");
  if (all.vacuous > 0)
    text += indented(counted(static_cast<std::uint64_t>(all.vacuous), "vacuous result") +
                     ": the allowed error is as large as the values");
  text += not_judged_text(judged);
  for (const std::string& unseen : judged.unseen) text += indented("not seen: " + unseen);
  for (const std::string& open : open_ends(judged)) text += indented(open);
  text += indented("held to " + profile_text(judged));
  if (!files.page.empty()) text += indented("page: " + files.page);
  return text;
}

std::string operation_text(const JudgedOperation& operation, const std::string& script) {
  const JudgedCall& judged = operation.judged;
  std::string text;
  if (judged.status == JudgedCall::not_judged)
    text = "NOT JUDGED: " + one_line(judged.why + "; " + next_step(judged.why)) + "\n";
  else if (judged.status == JudgedCall::nothing_to_hold)
    text = "NOTHING TO HOLD: a view, or numbers that are drawn\n";
  else if (judged.fails())
    text = "FAIL: " + one_line(short_name(operation.place.operation) + " " + fault_of(judged)) + "\n";
  else
    text = "PASS: it left what it may leave\n";
  text += indented(place_text(operation.place));
  if (judged.made_non_finite) text += indented("it makes infinities or NaN of finite numbers");
  for (const JudgedResult& result : judged.results) {
    std::string line = result_text(result) + ": " + grouped(static_cast<std::uint64_t>(result.wrong)) + " of " +
                       counted(static_cast<std::uint64_t>(result.elements), "element") + " wrong";
    if (result.undecided > 0) line += ", " + grouped(static_cast<std::uint64_t>(result.undecided)) + " undecided";
    if (result.spread > 0) line += ", errors " + significant(result.spread) + " times what roundings leave";
    if (result.vacuous) line += ", vacuous: the allowed error is as large as the values";
    text += indented(line);
    if (result.elements_worst.empty()) continue;
    std::vector<std::vector<std::string>> rows{{"Element", ">Found", ">Expected", ">Allowed", ">r"}};
    for (const JudgedElement& each : result.elements_worst)
      rows.push_back({short_list(each.place), nine_digits(each.found), nine_digits(each.expected),
                      significant(each.allowed), significant(each.r)});
    std::string table = columns(rows);
    for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) table.insert(at, "    ");
    text += table;
  }
  if (!script.empty()) text += indented("repeat it: python3 " + shell_word(script));
  return text;
}

}  // namespace tally
