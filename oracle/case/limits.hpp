// How large a case may be. Every size is held against these before memory is taken for it.
#pragma once

#include <cstddef>

namespace tally {

/// Elements of one tensor, of all drawn tensors together, and of one activation: rows times features.
inline constexpr std::size_t most_elements = std::size_t{1} << 28;
/// Bytes of a case file, and of the JSON packed in a token.
inline constexpr std::size_t most_text = std::size_t{1} << 30;

}  // namespace tally
