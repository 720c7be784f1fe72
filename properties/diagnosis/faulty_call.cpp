#include "properties/diagnosis/faulty_call.hpp"

#include <algorithm>
#include <vector>

#include "properties/compare/lens.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// The likeliest kinds of call first.
std::vector<std::string> calls_of(const std::string& stage) {
  if (stage == "count" || stage == "loss") return {"loss", "backward"};
  if (stage == "forward" || stage == "backward" || stage == "fork" || stage == "accumulate")
    return {"backward", "loss"};
  if (stage == "overflow_check" || stage == "unscale") return {"unscale", "step"};
  if (stage == "norm" || stage == "clip") return {"clip", "step"};
  return {"step"};
}

std::vector<std::string> calls_of(const Suspect* suspect, const std::string& failing_stage) {
  if (suspect == nullptr) return calls_of(failing_stage);
  if (!suspect->call.empty()) return {suspect->call};
  const auto& stages = suspect->stages;
  const bool enters = stages.empty() || std::find(stages.begin(), stages.end(), failing_stage) != stages.end();
  return calls_of(enters ? failing_stage : stages.front());
}

}  // namespace

std::optional<CodePlace> faulty_call(const JudgedCapture& judged, const std::map<std::string, CodePlace>& places) {
  const TensorCheck* failure = first_failure(judged.checks);
  if (failure == nullptr) return std::nullopt;
  const Suspect* suspect = judged.suspects.empty() ? nullptr : find_suspect(judged.suspects.front().name);
  for (const std::string& call : calls_of(suspect, tap_name_of(failure->tap).stage)) {
    const auto found = places.find(call);
    if (found != places.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace tally
