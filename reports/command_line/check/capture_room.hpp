// What judging a capture by all lenses takes of memory, told before the work starts.
#pragma once

#include <cstdint>

#include "oracle/case/case.hpp"

namespace tally::command_line {

/// Bytes that the end-to-end lens holds at once, from above but for what a rule takes on its way: a value and a bound of
/// every parameter, its state, copy, buffer, gradient and sum, and of the activations of the largest micro-batch.
std::uint64_t bytes_of_all_lenses(const Case& c);
/// As the system says: without taking it from anybody. Nothing where it does not say.
std::uint64_t free_memory();
/// Throws UsageError where that is more than `available`.
void require_room(const Case& c, std::uint64_t available);

}  // namespace tally::command_line
