// What the lists of keys are written with: fields.hpp says how.
#pragma once

#include <concepts>
#include <type_traits>

namespace tally {

template <class R, class Record>
concept Is = std::same_as<std::remove_const_t<R>, Record>;

}  // namespace tally
