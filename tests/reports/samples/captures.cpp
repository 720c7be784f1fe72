#include "tests/reports/samples/captures.hpp"

#include <algorithm>

#include "tests/reports/samples/samples.hpp"

namespace tally::samples {
namespace {

const std::vector<std::string> in_micro_batches{"forward", "loss", "backward", "accumulate"};
const std::vector<std::string> in_windows{"cast", "unscale", "optimizer"};

TensorCheck check(const std::string& place, const std::string& stage, const std::string& tensor) {
  TensorCheck made;
  made.lens = "local", made.tap = place + stage + "/" + tensor, made.stage = stage;
  made.elements = 64, made.differing = 40;
  made.worst_ratio = made.excess = 0.25;
  made.worst_index = {3, 1};
  made.expected = 0.5, made.got = 0.5625, made.error = 0.0625, made.bound = 0.25;
  made.terms.accumulation = 0.25;
  return made;
}

/// As the failing sample has it, with its worst elements and figures, in another place.
TensorCheck wrong(const TensorCheck& right) {
  TensorCheck made = failing().cases[40].worst.front();
  made.lens = right.lens, made.tap = right.tap, made.stage = right.stage;
  return made;
}

CaptureRecord capture(int windows, int micro_batches, const std::vector<std::string>& tensors) {
  CaptureRecord made;
  made.verdict = "pass";
  made.case_hash = std::string(64, 'a'), made.case_name = "a loop of mine";
  made.case_title = "fp32, linear 8-8-4, cross_entropy, sgd", made.lenses = "all";
  made.windows.assign(static_cast<std::size_t>(windows), micro_batches);
  made.stages = {"cast", "forward", "loss", "backward", "accumulate", "unscale", "optimizer"};
  for (int w = 0; w < windows; ++w) {
    const std::string window = "w" + std::to_string(w) + "/";
    for (int k = 0; k < micro_batches; ++k)
      for (const std::string& stage : in_micro_batches)
        for (const std::string& tensor : tensors)
          made.checks.push_back(check(window + "m" + std::to_string(k) + "/", stage, tensor));
    for (const std::string& stage : in_windows)
      for (const std::string& tensor : tensors) made.checks.push_back(check(window, stage, tensor));
  }
  made.claims = {"subject: a loop in PyTorch", "recipe constants in fp32, divided by micro_batch"};
  for (int i = 0; i < 12; ++i) made.claims.push_back("operation " + std::to_string(i) + ": any order of additions");
  made.recipe = "normalisation window_items";
  made.semantic_gap = 0, made.rounding_drift = 1e-8, made.drift_bound = 1e-6;
  return made;
}

void spoil(std::string& text) {
  text += "</title><script>alert(1)</script>\" onclick='x' &amp; \x1b]0;x\x07\xff\u202e";
}

}  // namespace

CaptureRecord right_capture() { return capture(2, 3, {"fc1.weight", "fc1.bias"}); }

CaptureRecord wrong_capture() {
  CaptureRecord made = right_capture();
  made.verdict = "fail";
  made.first_tap = "w0/m1/backward/fc1.weight", made.first_stage = "backward";
  made.cause = "the micro-batches are summed", made.remedies = {"divide by the window's 8 items: `loss.sum() / 8`"};
  made.place = "train.py:14", made.place_text = "loss = f(x)";
  made.sentence = made.first_tap + "[3, 1], the gradient: expected 0.5, got 2.5; looks like sum-not-mean";
  const auto first = std::find_if(made.checks.begin(), made.checks.end(),
                                  [&](const TensorCheck& each) { return each.tap == made.first_tap; });
  for (auto at = first; at != made.checks.end(); at += 2) *at = wrong(*at);
  made.suspects = {{"sum-not-mean", 0.9998, 1, 3, "K", "the micro-batches are summed", "g = sum_k g_k"}};
  made.semantic_gap = 0.125, made.gap_sentence = "the first window's gradient differs by 12.5 % of its norm";
  made.own_gap = 2, made.own_gap_window = 0;
  made.assumptions = {"the loss is a mean over rows", "the scaler is off"};
  return made;
}

CaptureRecord partial_capture() {
  CaptureRecord made = right_capture();
  made.verdict = "not_judged";
  for (std::size_t i = 0; i < made.checks.size(); ++i) {
    if (made.checks[i].stage == "forward") made.checks[i].status = Status::not_run;
    if (made.checks[i].stage == "loss") made.checks[i].status = Status::vacuous;
  }
  made.groups = {"forward..loss"}, made.not_judged = {"too few taps to judge: forward (w0/m0/forward/fc1.weight)"};
  made.semantic_gap.reset(), made.rounding_drift.reset(), made.drift_bound.reset();
  return made;
}

CaptureRecord hostile_capture() {
  CaptureRecord made = wrong_capture();
  for (std::string* text : {&made.case_name, &made.case_title, &made.sentence, &made.gap_sentence, &made.case_hash,
                            &made.cause, &made.remedies[0], &made.place, &made.place_text, &made.recipe})
    spoil(*text);
  for (std::vector<std::string>* list : {&made.assumptions, &made.claims, &made.groups})
    for (std::string& text : *list) spoil(text);
  made.not_judged = {"x"}, spoil(made.not_judged.front());
  for (std::string& stage : made.stages) spoil(stage);
  for (TensorCheck& each : made.checks) spoil(each.tap), spoil(each.stage);
  spoil(made.first_tap), spoil(made.first_stage);
  for (Suspicion& s : made.suspects)
    for (std::string* text : {&s.name, &s.sentence, &s.formula, &s.factor_word}) spoil(*text);
  return made;
}

CaptureRecord large_capture(int tensors, int micro_batches) {
  std::vector<std::string> names;
  for (int i = 0; i < tensors; ++i) names.push_back("blocks." + std::to_string(i) + ".attention.query.weight");
  CaptureRecord made = capture(1, micro_batches, names);
  made.verdict = "fail";
  for (TensorCheck& each : made.checks) each.status = Status::fail, each.worst_ratio = 1.5, each.over_bound = 3;
  made.first_tap = made.checks.front().tap, made.first_stage = made.checks.front().stage;
  made.sentence = made.first_tap + " is wrong";
  return made;
}

std::map<std::string, CaptureRecord> all_captures() {
  return {{"capture_right", right_capture()},
          {"capture_wrong", wrong_capture()},
          {"capture_partial", partial_capture()},
          {"capture_hostile", hostile_capture()},
          {"capture_large", large_capture(1000, 64)}};
}

}  // namespace tally::samples
