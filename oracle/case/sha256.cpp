// By the functions that stand alone: those of EVP set a library of algorithms up first, which takes longer than a small
// case takes to be judged.
#define OPENSSL_API_COMPAT 0x10100000L
#include <openssl/sha.h>

#include <array>

#include "oracle/case/io.hpp"

namespace tally {

std::string sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, text.data(), text.size());
  SHA256_Final(digest.data(), &state);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

}  // namespace tally
