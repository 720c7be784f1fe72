// Known mistakes in an activation and in its derivative, for the suspect activation-otherwise.
#pragma once

#include <source_location>
#include <string>
#include <vector>

namespace tally {

/// One element: dy is 0 in forward; of dropout whether it is kept, and the rate p.
struct ActivationElement {
  double x, dy;
  bool kept;
  double p;
};

/// What a stage would leave with one thing done otherwise.
struct ActivationOtherwise {
  const char *kind, *stage;  // stage empty: both directions
  std::string sentence, formula;
  double (*left)(const ActivationElement& a);
};

/// One file a kind or a family of kinds, `<kind>_otherwise.cpp`.
struct RegisterActivationOtherwise {
  explicit RegisterActivationOtherwise(std::vector<ActivationOtherwise> ways,
                                       std::source_location at = std::source_location::current());
};

}  // namespace tally
