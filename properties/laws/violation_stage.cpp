#include "properties/laws/violation_stage.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "kernels/trace/stage_place.hpp"

namespace tally {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";

/// What is waited for, "w1/m0/send, part 0 to 1".
struct Awaited {
  int window = 0;
  std::string_view stage = {};
  std::tuple<int, std::ptrdiff_t> place() const { return {window, place_of_stage(stage)}; }
  bool known() const { return place_of_stage(stage) < static_cast<std::ptrdiff_t>(stages_in_order.size()); }
};

Awaited awaited_in(std::string_view text) {
  Awaited awaited;
  const auto number = std::from_chars(text.data(), text.data() + text.size(), awaited.window);
  text.remove_prefix(static_cast<std::size_t>(number.ptr - text.data()));
  while (text.starts_with("/")) {
    text.remove_prefix(1);
    awaited.stage = text.substr(0, text.find_first_not_of(letters));
    if (awaited.stage != "m") break;  // of micro-batch k
    text.remove_prefix(std::min(text.find('/'), text.size()));
  }
  return awaited;
}

}  // namespace

std::string stage_of_violation(std::string_view violation) {
  Awaited first;
  for (const std::string_view before : {"waits for w", "bytes of w"})
    for (std::size_t at = violation.find(before); at != std::string_view::npos; at = violation.find(before, at + 1)) {
      const Awaited awaited = awaited_in(violation.substr(at + before.size()));
      if (awaited.known() && (first.stage.empty() || awaited.place() < first.place())) first = awaited;
    }
  return first.stage.empty() ? "kernel" : std::string(first.stage);
}

}  // namespace tally
