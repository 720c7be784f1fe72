#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tally {

using Digest = std::array<unsigned char, 32>;

Digest sha256_digest(std::string_view text);
std::string base64(const Digest& digest);
std::string hex(const Digest& digest);

}  // namespace tally
