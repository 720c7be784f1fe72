// Models of every sort to which settings are put, as many together as the rules allow, and forms of models that no
// setting says. Defined in together.cpp, unusual.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// Models of every sort to which settings are put, as many together as the rules allow, and why two cannot be.

/// The plan as a model of one sort: layers in a row, tokens, attention, adapters; by one, on ranks, in stages, or both.
/// As its seed draws.
void of_any_sort(Plan& plan);

/// In two plans of three one of the unusual forms (together.hpp), then `first`, in a model of a sort that takes it, and
/// then those of `more` that the rules allow beside it.
void put_together(Plan& plan, std::size_t first, const std::vector<std::size_t>& more);

/// The same for one of many plans, by its number: every second one begins with a word of how ranks train, which rules
/// keep apart from much, the others with each setting in turn; more are drawn, of every section some. A number that
/// number_of_pair() gave begins with both.
void put_together(Plan& plan, std::uint64_t number);

/// Where plans begin in which two settings stand, by their places: another number in each round. No campaign counts so
/// far by itself.
std::uint64_t number_of_pair(std::size_t a, std::size_t b, std::uint64_t round);

/// Why no plan says both, of all sorts of models that were tried: the rule that most often stands against it; nullopt
/// where some plan does. By rules alone: nothing is run.
std::optional<std::string> why_never_together(std::size_t a, std::size_t b);

// Forms of models and runs that no setting says, each of which some branch of the training step is for.

/// Changes a plan of any sort; what does not go with it the rules say.
using UnusualForm = void (*)(Plan& plan, executor::Schedule& random);

/// All of them.
const std::vector<UnusualForm>& unusual_forms();

}  // namespace tally
