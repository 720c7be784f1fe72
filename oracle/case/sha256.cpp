// By the functions that stand alone: those of EVP set a library of algorithms up first, which takes longer than a small
// case takes to be judged.
#define OPENSSL_API_COMPAT 0x10100000L
#include "oracle/case/sha256.hpp"

#include <openssl/sha.h>

#include <array>

#include "oracle/case/io.hpp"

namespace tally {

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256_Init(&state_->context); }
Sha256::~Sha256() = default;

void Sha256::add(std::string_view part) { SHA256_Update(&state_->context, part.data(), part.size()); }

std::string Sha256::digits() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &state_->context);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.digits();
}

}  // namespace tally
