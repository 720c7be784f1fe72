#include "oracle/case/compression.hpp"

#include <zlib.h>

#include <array>
#include <stdexcept>

namespace tally {
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

}  // namespace tally
