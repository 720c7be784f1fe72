// A suspect: a known bug as a formula. Given the trace's own bits before the stage, it says what that bug would have
// left, element by element. One file a suspect; it registers itself.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "properties/diagnosis/evidence.hpp"
#include "properties/diagnosis/what_if.hpp"

namespace tally {

struct Suspect {
  std::string name;
  std::vector<std::string> faults;  // the seeded faults it stands for; those of one formula share a suspect
  std::vector<std::string> stages;  // where it may enter; empty: anywhere
  std::string sentence;             // what the bug does, for people
  std::string formula;              // "c = S / (K n_k)"
  /// What to change, in the words of a training loop, without a full stop; counts stand as {n_k}, {N}, {K} (remedy.hpp).
  std::string remedy;
  /// The kind of call (kernels/trace/places.hpp) that it stands at, where that is not its stage's.
  std::string call = {};
  /// What the bug would have left in this tensor; nullopt where it leaves it right. Nothing is judged where it leaves
  /// every tensor right.
  std::optional<Values> (*left)(const Evidence& evidence, const HeldTensor& held) = nullptr;
  /// Numbers that `left` itself chose by looking at what came.
  int parameters = 0;
  /// got = f * left, with one f for all tensors, fitted by least squares: one more parameter.
  bool fits_factor = false;
  /// In place of `left`: many ways of one sort, each with its own sentence and formula, under one name.
  std::vector<Hypothesis> (*ways)(const Evidence& evidence) = nullptr;
};

struct RegisterSuspect {
  explicit RegisterSuspect(Suspect suspect, std::source_location at = std::source_location::current());
};

/// All suspects, sorted by name.
std::vector<const Suspect*> suspects();
const Suspect* find_suspect(std::string_view name);
/// Whether the suspect stands for this fault.
bool stands_for(const Suspect& suspect, std::string_view fault);

}  // namespace tally
