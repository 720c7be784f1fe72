// zlib streams (RFC 1950) of bounded size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

std::string compress(std::string_view bytes);
/// nullopt for a damaged or unfinished stream, bytes after its end, or more than `most` bytes inside.
std::optional<std::string> decompress(std::string_view stream, std::size_t most);

}  // namespace tally
