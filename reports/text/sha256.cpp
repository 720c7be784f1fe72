#include "reports/text/sha256.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace tally {

Digest sha256_digest(std::string_view text) {
  Digest digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("cannot compute a SHA-256");
  return digest;
}

std::string base64(const Digest& digest) {
  unsigned char text[4 * ((sizeof(Digest) + 2) / 3) + 1];
  const int length = EVP_EncodeBlock(text, digest.data(), static_cast<int>(digest.size()));
  return {text, text + length};
}

std::string hex(const Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace tally
