#include "reports/command_line/output.hpp"

#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

constexpr std::size_t longest_line = 4000;

std::streambuf* plain_output = nullptr;  // where VisibleOutput sends what it shows

/// Hands text on line by line, so that no character is cut in two.
class VisibleBuffer : public std::streambuf {
 public:
  explicit VisibleBuffer(std::streambuf& to) : to_(to) {}

 protected:
  int_type overflow(int_type byte) override {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char one = traits_type::to_char_type(byte);
    return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    held_.append(text, static_cast<std::size_t>(count));
    const auto end = held_.rfind('\n');
    return end == std::string::npos || send(end + 1) ? count : 0;
  }
  int sync() override { return send(held_.size()) && to_.pubsync() == 0 ? 0 : -1; }

 private:
  bool send(std::size_t count) {
    const std::string shown = visible(std::string_view(held_).substr(0, count));
    held_.erase(0, count);
    const auto size = static_cast<std::streamsize>(shown.size());
    return to_.sputn(shown.data(), size) == size;
  }

  std::streambuf& to_;
  std::string held_;
};

}  // namespace

VisibleOutput::VisibleOutput() : shown_(std::make_unique<VisibleBuffer>(*std::cout.rdbuf())) {
  before_ = std::cout.rdbuf(shown_.get());
  plain_output = before_;
}

VisibleOutput::~VisibleOutput() {
  std::cout.flush();
  std::cout.rdbuf(before_);
  plain_output = nullptr;
}

void print_document(std::string_view document) {
  std::cout.flush();
  std::streambuf& to = plain_output == nullptr ? *std::cout.rdbuf() : *plain_output;
  const auto size = static_cast<std::streamsize>(document.size());
  if (to.sputn(document.data(), size) != size) std::cout.setstate(std::ios::badbit);
}

std::string message_line(std::string_view text) {
  const bool cut = text.size() > longest_line;
  return one_line(text.substr(0, longest_line)) + (cut ? "..." : "");
}

}  // namespace tally::command_line
