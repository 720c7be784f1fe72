// A stored file's text, of bounded size. A folder, a pipe or a device that never ends is refused before it is read.
#pragma once

#include <cstddef>
#include <string>

namespace tally {

inline constexpr std::size_t most_stored_bytes = std::size_t{1} << 28;

/// Throws std::runtime_error that says what stands there instead of a file: "FILE cannot be read: it is a folder".
std::string stored_text(const std::string& file);

}  // namespace tally
