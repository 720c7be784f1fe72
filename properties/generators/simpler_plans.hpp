// What a shrinker tries: simpler plans, then round numbers; and a plan without what many a training step does not do.
// Defined in simpler_plans.cpp, rounder_values.cpp.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// One step towards a simpler plan: what a shrinker tries, in the order it should try it.

/// Plans that differ from this one in one thing and are simpler in it: fewer layers, windows, micro-batches, features
/// and rows, plainer losses and recipes. The largest cuts first. Empty once nothing is left to take away. Every step
/// lowers a finite measure, so that taking one after another ends.
std::vector<Plan> simpler_plans(const Plan& plan);

// Round numbers for the tensors of a case: what a shrinker tries once the plan is as small as it gets.

/// Makes tensor values rounder while `still_fails` says yes: whole tensors first (fewer bits, small integers, ones,
/// zeros), then element by element. Targets of classes move towards class 0, running variances and item weights stay.
/// Ends when nothing more can be made rounder or after `attempts` questions; returns the roundest case that failed.
Case with_rounder_values(Case c, int attempts, const std::function<bool(const Case&)>& still_fails);

/// How far a value is from being round: 0 for 0, 1 for 1, 2 for other powers of two up to 64 and their negatives and
/// integers up to 8, then the bits it needs.
int roughness(double value);

// A plan without what many a training step does not do: for steps of a user's own, which decline what they do not know.

/// Which parts are made plain.
struct Plainness {
  bool formats = false;  // all fp32 beside the storage format, no TF32
  bool layers = false;   // linear layers and ReLU
  bool recipe = false;   // SGD at a constant rate; no decay, clip or scale; the plainest loss; nothing run twice
};

/// From a plan as it was drawn to the plainest: what a step is asked for, one after another, until it declines no more.
inline constexpr std::array<Plainness, 6> plainer_and_plainer{{{},
                                                               {.formats = true},
                                                               {.formats = true, .layers = true},
                                                               {.formats = true, .recipe = true},
                                                               {.layers = true, .recipe = true},
                                                               {.formats = true, .layers = true, .recipe = true}}};

Plan plainer(Plan plan, const Plainness& plain);

}  // namespace tally
