#include "oracle/case/bytes.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

namespace tally {

std::byte Bytes::at(std::size_t i) const {
  if (i >= size()) throw std::out_of_range("byte " + std::to_string(i) + " of " + std::to_string(size()));
  return data()[i];
}

void Bytes::copy() {
  own_.assign(file_->data() + begin_, file_->data() + begin_ + size_);
  file_.reset();
}

bool operator==(const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tally
