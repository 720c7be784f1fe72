// A case as a token, in Base32 of a zlib stream; and its SHA-256.
#define OPENSSL_API_COMPAT 0x10100000L

#include <openssl/sha.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/io.hpp"

namespace tally {

// By the functions that stand alone: those of EVP set a library of algorithms up first, which takes longer than a small
// case takes to be judged.

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

namespace {

/// An inflating stream that is closed in any case.
class Inflater {
 public:
  explicit Inflater(std::string_view input) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    if (inflateInit(&stream_) != Z_OK) throw std::runtime_error("zlib cannot start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Appends one block to `out`; returns zlib's status.
  int next(std::string& out) {
    stream_.next_out = block_.data();
    stream_.avail_out = static_cast<uInt>(block_.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    out.append(reinterpret_cast<const char*>(block_.data()), block_.size() - stream_.avail_out);
    return status;
  }
  bool consumed() const { return stream_.avail_in == 0; }

 private:
  z_stream stream_{};
  std::array<Bytef, 1 << 16> block_;
};

}  // namespace

std::string compress(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string stream(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress");
  stream.resize(size);
  return stream;
}

std::optional<std::string> decompress(std::string_view stream, std::size_t most) {
  if (stream.size() > most) return std::nullopt;
  Inflater inflater(stream);
  std::string bytes;
  int status = Z_OK;
  while (status == Z_OK && bytes.size() <= most) status = inflater.next(bytes);
  if (status != Z_STREAM_END || !inflater.consumed() || bytes.size() > most) return std::nullopt;
  return bytes;
}

namespace {

constexpr std::string_view prefix = "tly1:";

[[noreturn]] void refuse_token(const std::string& found, const std::string& expected) {
  throw InvalidCase({{"token", found, expected}});
}

/// `$.model` of the case inside becomes `token.model`.
std::vector<CaseError> inside_token(std::vector<CaseError> errors) {
  for (CaseError& error : errors)
    if (error.path.starts_with("$")) error.path.replace(0, 1, "token");
  return errors;
}

}  // namespace

std::string token_of(const Case& c) {
  return std::string(prefix) + to_base32(compress(to_text(json_of(c, true), JsonLayout::compact)));
}

bool is_token(std::string_view text) {
  if (!text.starts_with("tly")) return false;
  const auto after = text.find_first_not_of("0123456789", 3);
  return after != std::string_view::npos && after > 3 && text[after] == ':';
}

Case case_of_token(std::string_view token) {
  if (!token.starts_with(prefix)) refuse_token(json_string(token.substr(0, 20)), "a token beginning with \"tly1:\"");
  const auto stream = from_base32(token.substr(prefix.size()));
  if (!stream)
    refuse_token(std::to_string(token.size()) + " characters", "letters a-z and digits 2-7, all of the token");
  const auto text = decompress(*stream, most_text);
  if (!text)
    refuse_token("a damaged token, or one of more than " + std::to_string(most_text) + " bytes",
                 "all of the token, unchanged");
  try {
    return unpack_case(*text, {{}, true});
  } catch (const InvalidCase& invalid) {
    throw InvalidCase(inside_token(invalid.errors()));
  }
}

}  // namespace tally
