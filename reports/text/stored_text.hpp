// A stored file's text, of bounded size, and the SHA-256 of a text.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tally {

// A stored file's text, of bounded size. A folder, a pipe or a device that never ends is refused before it is read.

inline constexpr std::size_t most_stored_bytes = std::size_t{1} << 28;

/// Throws std::runtime_error that says what stands there instead of a file: "FILE cannot be read: it is a folder".
std::string stored_text(const std::string& file);

using Digest = std::array<unsigned char, 32>;

Digest sha256_digest(std::string_view text);
std::string base64(const Digest& digest);
std::string hex(const Digest& digest);

}  // namespace tally
