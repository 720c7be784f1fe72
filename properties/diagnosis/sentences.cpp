// What a failing check or capture says in sentences: what is wrong, in which call, and what to change.
#include "properties/diagnosis/sentences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/explained.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

std::string short_number(double value, int digits = 4) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// Digits that tell the two apart, where any do.
int telling_digits(double a, double b) {
  int digits = 4;
  while (digits < 17 && a != b && short_number(a, digits) == short_number(b, digits)) ++digits;
  return digits;
}

/// A power of ten above the chance; a chance below the least is printed as the least.
std::string chance_limit(double log10) {
  constexpr double least = -1000;
  return "1e" + short_number(log10 >= least ? std::ceil(log10) : least);
}

/// Inside its bound, but not what rounding to nearest leaves.
std::string spread_sentence(const TensorCheck& check) {
  const SpreadFinding& found = check.spread;
  std::string text = check.tap + " by the statistical lens (" + found.test + "): " + short_number(found.deviation) +
                     " times its spread, chance below " + chance_limit(found.log10_chance);
  if (found.share != 0) text += "; the error holds " + short_number(found.share) + " of that direction";
  return text;
}

/// As accurate as the declared order, but not its bits.
std::string order_sentence(const TensorCheck& check) {
  return check.tap + ": bits of " + std::to_string(check.differing) + " of " + std::to_string(check.elements) +
         " elements differ from the claimed order of additions, at equal accuracy (" + short_number(check.worst_ratio) +
         "x of its bound)";
}

}  // namespace

std::string element_of(const TensorCheck& check) {
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return check.tap + "[" + index + "]" + (check.place.empty() ? "" : " (" + check.place + ")");
}

std::string figures_of(const TensorCheck& check, const std::string& ratio) {
  const int digits = telling_digits(check.expected, check.got);
  std::string text = "expected " + short_number(check.expected, digits) + ", got " + short_number(check.got, digits);
  if (check.expected == 0 || check.got == 0 || !std::isfinite(check.got)) return text;
  const double share = check.got / check.expected;
  return text + ", ratio " + short_number(share, telling_digits(share, 1)) + (ratio.empty() ? "" : " = " + ratio);
}

std::string sentence_of(const TensorCheck& check, const std::string& ratio) {
  if (!check.message.empty()) return check.message;
  if (check.failure == FailureClass::order) return order_sentence(check);
  if (check.failure == FailureClass::precision) return spread_sentence(check);
  if (check.failure == FailureClass::logic && check.expected == check.got && check.error == 0)
    return element_of(check) + " by the " + check.lens + " lens: " + std::to_string(check.differing) + " of " +
           std::to_string(check.elements) +
           " elements differ in bits but not in value: the sign of a zero, or the order of equal elements";
  std::string text = element_of(check) + " by the " + check.lens + " lens: " + figures_of(check, ratio);
  text += "; error " + short_number(check.error) + ", bound " + short_number(check.bound);
  if (std::isfinite(check.worst_ratio)) text += " (" + short_number(check.worst_ratio) + "x)";
  if (const std::string terms = text_of(check.terms); !terms.empty()) text += "; the bound is " + terms;
  return text;
}

std::string absence_sentence(const TensorCheck& absent, std::vector<TensorCheck> checks) {
  std::erase_if(checks, [&](const TensorCheck& check) { return is_absent(check) && check.tap == absent.tap; });
  const TensorCheck* next = first_failure(checks);
  return absent.tap + " is absent: the recipe requires " + absent.stage + ", which was not run" +
         (next == nullptr ? "" : "; the next failure is " + sentence_of(*next, ""));
}

namespace {

/// `before` and `after` stand around what follows the prefix in a tensor's name.
struct TapWords {
  std::string_view stage, prefix, before, after;
};

constexpr std::array<TapWords, 25> all_tap_words{{
    {"count", "items", "the number of items", ""},
    {"loss", "in.factor", "what each item's loss is multiplied by", ""},
    {"loss", "in.y", "the model's output, as the loss reads it", ""},
    {"loss", "d.y", "the gradient of the model's output", ""},
    {"loss", "loss", "the losses of the rows", ""},
    {"backward", "d.", "the micro-batch's gradient of ", ""},
    {"accumulate", "in.buffer.", "the gradient (.grad) of ", " before the micro-batch is added"},
    {"accumulate", "buffer.", "the gradient (.grad) of ", " with the micro-batch added"},
    {"reduce", "reduced.", "the sum over ranks of the gradient of ", ""},
    {"overflow_check", "found", "whether an overflow was found", ""},
    {"overflow_check", "in.buffer.", "the accumulated gradient of ", ""},
    {"unscale", "in.buffer.", "the accumulated gradient of ", ""},
    {"unscale", "d.", "the unscaled gradient of ", ""},
    {"norm", "norm", "the norm of all gradients", ""},
    {"clip", "coefficient", "the coefficient of the clip", ""},
    {"clip", "d.", "the clipped gradient of ", ""},
    {"decay", "d.", "the gradient of ", " with its weight decay"},
    {"optimizer", "in.d.", "the gradient of ", ", as the step reads it"},
    {"optimizer", "in.learning_rate", "the learning rate of the step", ""},
    {"optimizer", "in.step", "the optimizer's step count", ""},
    {"schedule", "learning_rate", "the learning rate of the window", ""},
    {"schedule", "step", "the number of steps taken", ""},
    {"scaler", "scale", "the loss scale after the window", ""},
    {"scaler", "growth_counter", "the scaler's count of windows without an overflow", ""},
    {"optimizer", "in.", "what the step reads of ", ""},
}};

}  // namespace

std::string words_of_tap(const TapName& name) {
  for (const TapWords& words : all_tap_words) {
    const bool whole = words.prefix.back() != '.';
    if (name.stage != words.stage) continue;
    if (whole ? name.tensor != words.prefix : !name.tensor.starts_with(words.prefix)) continue;
    const std::string rest = whole ? "" : name.tensor.substr(words.prefix.size());
    return std::string(words.before) + rest + std::string(words.after);
  }
  if (name.stage == StageName::optimizer) {
    const std::string_view parameter = parameter_of_state(name.tensor);
    if (parameter.empty()) return "the parameter " + name.tensor + " after the step";
    const std::string state = name.tensor.substr(0, name.tensor.size() - parameter.size() - 1);
    return "the optimizer's " + state + " of " + std::string(parameter);
  }
  if (name.stage == StageName::forward && name.tensor.ends_with(".y") && !name.tensor.starts_with("in."))
    return "the output of " + name.tensor.substr(0, name.tensor.size() - 2);
  return "";
}

namespace {

/// The likeliest kinds of call first.
std::vector<std::string> calls_of(const std::string& stage) {
  if (stage == StageName::count || stage == StageName::loss) return {"loss", "backward"};
  if (stage == StageName::forward || stage == StageName::backward || stage == StageName::fork ||
      stage == StageName::accumulate)
    return {"backward", "loss"};
  if (stage == StageName::overflow_check || stage == StageName::unscale) return {"unscale", "step"};
  if (stage == StageName::norm || stage == StageName::clip) return {"clip", "step"};
  return {"step"};
}

std::vector<std::string> calls_of(const Bug* bug, const std::string& failing_stage) {
  if (bug == nullptr) return calls_of(failing_stage);
  if (!bug->call.empty()) return {bug->call};
  const auto& stages = bug->stages;
  const bool enters = stages.empty() || std::find(stages.begin(), stages.end(), failing_stage) != stages.end();
  return calls_of(enters ? failing_stage : stages.front());
}

}  // namespace

std::optional<CodePlace> faulty_call(const JudgedCapture& judged, const std::map<std::string, CodePlace>& places) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return std::nullopt;
  const Bug* bug = judged.suspects.empty() ? nullptr : find_bug(judged.suspects.front().name);
  for (const std::string& call : calls_of(bug, tap_name_of(failure->tap).stage)) {
    const auto found = places.find(call);
    if (found != places.end()) return found->second;
  }
  return std::nullopt;
}

namespace {

/// With a {letter} wherever a count may stand.
std::string written(std::string_view name) {
  const Bug* bug = find_bug(name);
  return bug == nullptr ? "" : bug->remedy;
}

std::string count_in_text(long double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6Lg", value);
  return text;
}

std::string filled(std::string text, const std::map<std::string, std::string>& counts) {
  for (const auto& [letter, count] : counts) {
    const std::string mark = "{" + letter + "}";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + count.size()))
      text.replace(at, mark.size(), count);
  }
  return text;
}

}  // namespace

std::string remedy_of(std::string_view name) { return filled(written(name), {{"n_k", "n_k"}, {"N", "N"}, {"K", "K"}}); }

std::string remedy_at(std::string_view name, const Case& c, const TapName& failure) {
  const auto window = static_cast<std::size_t>(failure.window);
  if (in_ranks(c) || window >= c.windows.size()) return remedy_of(name);
  const auto micro_batch = static_cast<std::size_t>(std::max(failure.micro_batch, 0));
  return filled(written(name), {{"n_k", count_in_text(oracle::micro_batch_items<long double>(c, window, micro_batch))},
                                {"N", count_in_text(oracle::window_items<long double>(c, window))},
                                {"K", std::to_string(c.windows[window].size())}});
}

namespace {

/// What got / expected tells of the worst element, where that is a stage's own.
std::string ratio_of(const Case& c, const Trace& trace, const TensorCheck& failure) {
  const Tensor* got = trace.find(failure.tap);
  if (failure.lens != "local" || got == nullptr || failure.expected == 0) return "";
  const TapName at = tap_name_of(failure.tap);
  return telling_factor(c, at.window, at.micro_batch, got->dtype, failure.got / failure.expected);
}

std::string told(const Case& c, const Trace& trace, const TensorCheck& failure) {
  const bool by_element = failure.failure != FailureClass::order && failure.failure != FailureClass::precision;
  if (!failure.message.empty() || !by_element) return sentence_of(failure, "");
  const std::string words = words_of_tap(tap_name_of(failure.tap));
  const std::string element = failure.worst_index.empty() ? failure.tap : element_of(failure);  // a number has none
  return element + (words.empty() ? "" : ", " + words) + ": " + figures_of(failure, ratio_of(c, trace, failure));
}

/// "in stage loss", "between the stages unscale and optimizer".
std::string within(const std::string& stage) {
  const auto dots = stage.find("..");
  if (dots == std::string::npos) return "in stage " + stage;
  return "between the stages " + stage.substr(0, dots) + " and " + stage.substr(dots + 2);
}

}  // namespace

std::string cause_of(const JudgedCapture& judged) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return "";
  if (!judged.suspects.empty()) return judged.suspects.front().sentence;
  return "the loop differs from its recipe, first " + within(failure->stage) + "; no cause is known";
}

std::vector<std::string> remedies_of(const Case& c, const JudgedCapture& judged) {
  std::vector<std::string> all;
  const TensorCheck* failure = first_failure(judged.checks);
  for (const Suspicion& suspect : judged.suspects) all.push_back(remedy_at(suspect.name, c, tap_name_of(failure->tap)));
  return all;
}

std::string sentence_of(const Case& c, const Trace& trace, const JudgedCapture& judged) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return "";
  const std::string text = is_absent(*failure) ? absence_sentence(*failure, judged.checks) : told(c, trace, *failure);
  return judged.suspects.empty() ? text : text + "; " + text_of(judged.suspects);
}

}  // namespace tally
