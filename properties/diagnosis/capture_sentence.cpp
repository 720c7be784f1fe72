#include "properties/diagnosis/capture_sentence.hpp"

#include "properties/compare/absent_stages.hpp"
#include "properties/compare/lens.hpp"
#include "properties/diagnosis/sentences.hpp"
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

}  // namespace

std::string sentence_of(const Case& c, const Trace& trace, const JudgedCapture& judged) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return "";
  const std::string text = is_absent(*failure) ? absence_sentence(*failure, judged.checks)
                                               : sentence_of(*failure, ratio_of(c, trace, *failure));
  if (judged.suspects.empty()) return text;
  return text + "; " + text_of(judged.suspects) + ": " + judged.suspects.front().sentence;
}

}  // namespace tally
