// Declared sizes (oracle/case/sizes.hpp), as generators draw them.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/device/executor/schedule.hpp"

namespace tally {

/// A value of the size that `name` declares, at most `most`: in one draw of two a small one, else one below, at or above
/// an edge. At least `least`, or the size's own least where that is more. Throws std::logic_error for a name that nobody
/// declares.
std::int64_t drawn_size(std::string_view name, executor::Schedule& random, std::int64_t most, std::int64_t least = 0);

}  // namespace tally
