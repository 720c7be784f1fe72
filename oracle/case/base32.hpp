// Base32 (RFC 4648, section 6) in lower case without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally {

std::string to_base32(std::string_view bytes);
/// nullopt for other letters, an impossible length or set bits beyond the last byte.
std::optional<std::string> from_base32(std::string_view text);

}  // namespace tally
