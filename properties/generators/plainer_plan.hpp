// A plan without what many a training step does not do: for steps of a user's own, which decline what they do not know.
#pragma once

#include <array>

#include "properties/generators/plan.hpp"

namespace tally {

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
