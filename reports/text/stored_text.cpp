// A stored file's text, of bounded size, and the SHA-256 of a text.
#define OPENSSL_API_COMPAT 0x10100000L

#include "reports/text/stored_text.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tally {

// By the functions that stand alone, as in oracle/case/file/token.cpp: those of EVP bring every algorithm of OpenSSL
// along, a quarter of a program that judges captures.

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

namespace {

/// An open file that is closed in any case.
class Open {
 public:
  explicit Open(const std::string& file) : file_(file), at_(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (at_ < 0) refuse(errno == ENOENT ? "there is none" : std::strerror(errno));
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    if (at_ >= 0) close(at_);
  }

  std::string text() const {
    const std::size_t size = regular_size();
    if (size > most_stored_bytes) refuse("it has more than " + std::to_string(most_stored_bytes) + " bytes");
    std::string text(size, '\0');
    for (std::size_t taken = 0; taken < size;) {
      const ssize_t more = read(at_, text.data() + taken, size - taken);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) refuse(more == 0 ? "it ends too early" : std::strerror(errno));
      taken += static_cast<std::size_t>(more);
    }
    return text;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw std::runtime_error(file_ + " cannot be read: " + reason);
  }
  std::size_t regular_size() const {
    struct stat found {};
    if (fstat(at_, &found) != 0) refuse(std::strerror(errno));
    if (S_ISDIR(found.st_mode)) refuse("it is a folder");
    if (S_ISFIFO(found.st_mode)) refuse("it is a pipe");
    if (!S_ISREG(found.st_mode)) refuse("it is no regular file");
    return static_cast<std::size_t>(found.st_size);
  }

  const std::string& file_;
  const int at_;
};

}  // namespace

/// Opened without waiting: nobody may ever write to a pipe.
std::string stored_text(const std::string& file) { return Open(file).text(); }

}  // namespace tally
