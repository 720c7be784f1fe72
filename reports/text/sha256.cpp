// By the functions that stand alone, as in oracle/case/sha256.cpp: those of EVP bring every algorithm of OpenSSL along, a
// quarter of a program that judges captures.
#define OPENSSL_API_COMPAT 0x10100000L
#include "reports/text/sha256.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace tally {

Digest sha256_digest(std::string_view text) {
  Digest digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  SHA256_Final(digest.data(), &context);
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
