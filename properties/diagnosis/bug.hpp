// A known bug: in words, as what a stage would have left with it, and as what a whole loop does in place of its case.
#pragma once

#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "properties/diagnosis/evidence.hpp"
#include "properties/lenses/loop_deviation.hpp"

namespace tally {

/// One way to state a loop in place of its case.
struct Restated {
  std::function<void(Case& c)> change = {};  // the recipe, where a case can say it
  LoopDeviation deviation = {};              // and what no case can
  bool steps_each_micro_batch = false;       // every micro-batch is a window of its own (restatement.hpp)
  /// How many numbers and rules differ from the stated ones. The smallest of several comes first.
  int changed = 1;
  std::string sentence = {}, formula = {};  // where the bug's own do not say it
};

// Given the trace's own bits before a stage, a bug says what it would have left, element by element: as a suspect of
// the stage that fails. Or it is another recipe for the same trace: where the case fails and a restatement of it passes
// inside all its bounds, that is the cause, however few taps there are. A bug has either, or both; it registers itself.

struct Bug {
  std::string name;
  std::vector<std::string> stages = {};  // where it may enter; empty: anywhere
  std::string sentence;                  // what it does, for people
  std::string formula;                   // "c = S / (K n_k)"
  /// What to change, in the words of a training loop, without a full stop; counts stand as {n_k}, {N}, {K}
  /// (sentences.hpp).
  std::string remedy;
  /// The kind of call (kernels/trace/recorder_notes.hpp) that it stands at, where that is not its stage's.
  std::string call = {};
  /// What it would have left in this tensor; nullopt where it leaves it right. Nothing is judged where it leaves every
  /// tensor right.
  std::optional<Values> (*left)(const Evidence& evidence, const HeldTensor& held) = nullptr;
  /// Numbers that `left` itself chose by looking at what came.
  int parameters = 0;
  /// got = f * left, with one f for all tensors, fitted by least squares: one more parameter.
  bool fits_factor = false;
  /// In place of `left`: many ways of one sort, each with its own sentence and formula, under one name.
  std::vector<Hypothesis> (*hypotheses)(const Evidence& evidence) = nullptr;
  /// The ways to restate the case that differ from it; `trace` is there for its claims.
  std::vector<Restated> (*restated)(const Case& c, const Trace& trace) = nullptr;

  bool is_suspect() const { return left != nullptr || hypotheses != nullptr; }
};

struct RegisterBug {
  explicit RegisterBug(Bug bug, std::source_location at = std::source_location::current());
};

/// All known bugs, sorted by name.
std::vector<const Bug*> bugs();
const Bug* find_bug(std::string_view name);

}  // namespace tally
