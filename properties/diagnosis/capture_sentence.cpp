#include "properties/diagnosis/capture_sentence.hpp"

#include "properties/compare/absent_stages.hpp"
#include "properties/compare/lens.hpp"
#include "properties/diagnosis/remedy.hpp"
#include "properties/diagnosis/sentences.hpp"
#include "properties/diagnosis/tap_words.hpp"
#include "properties/diagnosis/telling_factor.hpp"

namespace tally {
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
  return "the loop does otherwise than its recipe says, first " + within(failure->stage) + "; no cause is known";
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
