#include "reports/operations/operations_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "reports/text/text.hpp"

namespace tally {
namespace {

constexpr std::size_t numbers_shown = 6;
constexpr std::size_t kinds_shown = 4;

std::string count_of(std::int64_t count, const char* of) { return counted(static_cast<std::uint64_t>(count), of); }

const JudgedResult* first_failing(const JudgedCall& judged) {
  const auto found = std::find_if(judged.results.begin(), judged.results.end(),
                                  [](const JudgedResult& result) { return result.fails(); });
  return found == judged.results.end() ? nullptr : &*found;
}

/// "gelu 2, gelu_backward 2"
std::string failing_kinds(const JudgedRecording& judged) {
  std::string text;
  std::size_t shown = 0, more = 0;
  for (const auto& [name, counts] : by_concern(judged.by_operation)) {
    if (counts.failed == 0) break;
    if (shown++ < kinds_shown)
      text += (text.empty() ? "" : ", ") + name + " " + grouped(static_cast<std::uint64_t>(counts.failed));
    else
      ++more;
  }
  return text + (more > 0 ? ", and " + counted(more, "more kind") : "");
}

}  // namespace

std::string short_name(const std::string& operation) {
  constexpr std::string_view library = "aten.", overload = ".default";
  std::string name = operation.starts_with(library) ? operation.substr(library.size()) : operation;
  if (name.size() > overload.size() && name.ends_with(overload)) name.resize(name.size() - overload.size());
  return name;
}

std::string short_where(const std::string& where) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const auto at = where.rfind(folder, where.find(' ')); at != std::string::npos)
      return where.substr(at + folder.size());
  return where;
}

std::string stand_text(const OperationPlace& place) {
  std::string text = place.phase == "other" ? "" : place.phase;
  if (!place.where.empty()) text += (text.empty() ? "at " : " at ") + short_where(place.where);
  if (!place.module.empty()) text += (text.empty() ? "module " : ", module ") + place.module;
  return text + (text.empty() ? "step " : ", step ") + std::to_string(place.step);
}

std::string place_text(const OperationPlace& place) {
  return "operation " + std::to_string(place.number) + ", " + place.operation + ", " + stand_text(place);
}

std::string short_list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > numbers_shown && i == numbers_shown - 1) {
      text += ", \u2026";
      i = values.size() - 1;
    }
    text += (text.size() > 1 ? ", " : "") + std::to_string(values[i]);
  }
  return text + "]";
}

std::string nine_digits(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return std::isnan(value) ? "nan" : text.data();
}

std::string fault_of(const JudgedCall& judged) {
  const JudgedResult* result = first_failing(judged);
  if (result == nullptr) return "";
  if (result->imprecise || result->is_less_precise())
    return std::string("computes less precisely than ") + (result->format == "float64" ? "float64" : "float32") +
           " does" + (result->wrong > 0 ? ", and leaves values outside of their bounds" : "");
  const JudgedElement worst = result->elements_worst.empty() ? JudgedElement{} : result->elements_worst.front();
  if (!std::isfinite(worst.found) && std::isfinite(worst.expected))
    return "leaves infinities or NaN where there are numbers";
  if (worst.allowed == 0) return "leaves other values than the only right ones";
  return "leaves values outside of what any order of additions and roundings can leave";
}

std::string wrong_text(const JudgedResult& result) {
  const std::string elements = count_of(result.elements, "element");
  if (result.imprecise)
    return "errors are " + significant(result.spread) + " times what roundings leave; each of " + elements +
           " is inside of its bound, so only all together show it";
  if (result.elements_worst.empty()) return count_of(result.wrong, "wrong element");
  const JudgedElement& worst = result.elements_worst.front();
  std::string text = (worst.place.empty() ? "" : "element " + short_list(worst.place) + ": ") + "found " +
                     nine_digits(worst.found) + ", expected " + nine_digits(worst.expected);
  if (worst.allowed > 0)
    text += " \u00B1 " + significant(worst.allowed) + " (" + significant(worst.r) + " times what is allowed)";
  text += "; " + grouped(static_cast<std::uint64_t>(result.wrong)) + " of " + elements +
          (result.wrong == 1 ? " is wrong" : " are wrong");
  if (result.is_less_precise())
    text += ", errors of the others are " + significant(result.spread) + " times what roundings leave";
  return text;
}

std::pair<std::string, std::string> verdict_of(const JudgedRecording& judged) {
  if (judged.all.failed > 0 && !judged.failures.empty()) {
    const JudgedOperation& first = judged.failures.front();
    const std::string what = short_name(first.place.operation) + " " + fault_of(first.judged);
    if (judged.all.failed == 1) return {"FAIL", what};
    return {"FAIL", what + "; " + count_of(judged.all.failed, "operation") + " fail in all: " + failing_kinds(judged)};
  }
  if (judged.all.held == 0) return {"NOT JUDGED", "no operation of the recording could be judged"};
  const std::string all = count_of(judged.all.held, "operation");
  return {"PASS", judged.all.held == 1 ? "the one operation that was judged left what it may leave"
                                       : "all " + all + " that were judged left what they may leave"};
}

std::string extent_of(const JudgedRecording& judged) {
  const OperationCounts& all = judged.all;
  return "PyTorch " + judged.header.framework + ", " + count_of(all.operations, "operation") + ": " +
         grouped(static_cast<std::uint64_t>(all.held)) + " judged in " + count_of(all.elements, "element") + ", " +
         grouped(static_cast<std::uint64_t>(all.nothing)) + " with nothing to hold (views, drawn numbers), " +
         grouped(static_cast<std::uint64_t>(all.not_judged)) + " not judged";
}

bool profile_is_unknown(const JudgedRecording& judged) {
  return judged.claims.empty() && judged.profile == "standard" && !judged.header.profile.empty();
}

bool may_be_by_design(const JudgedRecording& judged) {
  constexpr double largest = 16;  // times what is allowed: approximations of functions stay below it
  return profile_is_unknown(judged) && !judged.failures.empty() && judged.failures.front().judged.worst() <= largest;
}

std::string profile_text(const JudgedRecording& judged) {
  if (!judged.claims.empty())
    return "the profile of " + judged.profile + ", with " + counted(judged.claims.size(), "claim") + " of its kernels";
  const std::string standard =
      "the " + judged.profile + " profile: every operation computes in float32 and rounds once at its end";
  if (!profile_is_unknown(judged)) return standard;
  return standard + ". Nothing is known of " + judged.header.profile +
         ", whose functions may be less precise by design: --profile FILE states what they claim";
}

std::string next_step(const std::string& why) {
  constexpr std::string_view none = "no rule for ";
  if (why.starts_with(none) && !why.starts_with("no rule for aten."))
    return "a custom operation: test it against a reference of its own; what reads its results is judged";
  if (why.starts_with(none)) return "ask for a rule by this name; what reads its results is judged";
  if (why.starts_with("float64")) return "record the run in float32, where it is judged";
  if (why.find("not recorded") != std::string::npos) return "see what could not be seen";
  return "this form of the operation has no rule; its other forms are judged";
}

std::vector<std::string> open_ends(const JudgedRecording& judged) {
  std::vector<std::string> all;
  if (!judged.ended) all.emplace_back("the recording has no end: the run was killed, and is judged up to there");
  if (judged.header.share < 1)
    all.push_back("a share of " + significant(judged.header.share) +
                  " was recorded: " + grouped(static_cast<std::uint64_t>(judged.all.operations)) + " of " +
                  count_of(judged.seen, "operation"));
  return all;
}

NamedCounts by_concern(const std::map<std::string, OperationCounts>& counts) {
  NamedCounts all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto key = [](const OperationCounts& of) { return std::tuple(-of.failed, -of.worst, -of.not_judged); };
    return key(a.second) < key(b.second);
  });
  return all;
}

std::vector<std::pair<std::string, NotJudgedOperations>> by_number(const JudgedRecording& judged) {
  std::vector<std::pair<std::string, NotJudgedOperations>> all(judged.not_judged.begin(), judged.not_judged.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.operations > b.second.operations; });
  return all;
}

}  // namespace tally
