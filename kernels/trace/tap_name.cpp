#include "kernels/trace/tap_name.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

#include "oracle/case/json_form.hpp"

namespace tally {
namespace {

/// Reads `<letter><digits>/` off the front of text; -1 when it does not start so. `plain` becomes false where the number
/// is written with more than it takes.
int take_number(std::string_view& text, char letter, bool& plain) {
  if (text.empty() || text.front() != letter) return -1;
  int number = 0;
  const char* const first = text.data() + 1;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '/' || number < 0) return -1;
  plain = plain && (end == first + 1 || (*first != '0' && *first != '-'));
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

/// `<letter><digits>/`.
void append_number(std::string& to, char letter, int number) {
  char digits[std::numeric_limits<int>::digits10 + 2];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  to += letter;
  to.append(digits, end);
  to += '/';
}

}  // namespace

void append(std::string& to, const TapView& name) {
  append_number(to, 'w', name.window);
  if (name.rank >= 0) append_number(to, 'r', name.rank);
  if (name.pipe >= 0) append_number(to, 'p', name.pipe);
  if (name.micro_batch >= 0) append_number(to, 'm', name.micro_batch);
  to += name.stage;
  to += '/';
  to += name.tensor;
}

std::string TapName::text() const {
  constexpr std::size_t of_numbers = 32;
  std::string all;
  all.reserve(of_numbers + stage.size() + tensor.size());
  append(all, view());
  return all;
}

std::optional<TapView> tap_view_of(std::string_view text) {
  TapView name;
  bool plain = true;
  name.window = take_number(text, 'w', plain);
  name.rank = take_number(text, 'r', plain);
  name.pipe = take_number(text, 'p', plain);
  name.micro_batch = take_number(text, 'm', plain);
  const auto slash = text.find('/');
  const bool whole = slash != std::string_view::npos && slash != 0 && slash + 1 != text.size();
  if (name.window < 0 || !plain || !whole) return std::nullopt;
  name.stage = text.substr(0, slash);
  name.tensor = text.substr(slash + 1);
  return name;
}

TapName tap_name_of(std::string_view text) {
  const auto name = tap_view_of(text);
  if (!name) {
    throw std::runtime_error(
        "'" + named(text) +
        "' is no tap name; expected w<window>/[r<rank>/][p<stage>/][m<micro-batch>/]<stage>/<tensor>");
  }
  return {name->window, name->micro_batch, std::string(name->stage), std::string(name->tensor), name->rank, name->pipe};
}

TapName of_rank(TapName name, int rank) {
  name.rank = rank;
  return name;
}

TapName of_pipe(TapName name, int pipe) {
  name.pipe = pipe;
  return name;
}

}  // namespace tally
