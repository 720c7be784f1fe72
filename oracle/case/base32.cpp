#include "oracle/case/base32.hpp"

#include <cstdint>

namespace tally {
namespace {
constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567";
}

std::string to_base32(std::string_view bytes) {
  std::string text;
  std::uint32_t buffer = 0;
  int held = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8 | static_cast<unsigned char>(byte)) & 0xffff;
    for (held += 8; held >= 5; held -= 5) text += alphabet[buffer >> (held - 5) & 31];
  }
  if (held > 0) text += alphabet[buffer << (5 - held) & 31];
  return text;
}

std::optional<std::string> from_base32(std::string_view text) {
  std::string bytes;
  std::uint32_t buffer = 0;
  int held = 0;
  for (const char letter : text) {
    const auto value = alphabet.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 5 | static_cast<std::uint32_t>(value)) & 0xffff;
    held += 5;
    if (held >= 8) bytes += static_cast<char>(buffer >> (held -= 8) & 0xff);
  }
  if (held >= 5 || (buffer & ((1u << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace tally
