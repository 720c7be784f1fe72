// Names of taps, and when they name a stage of a pipeline.
#include "kernels/trace/tap_name.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "oracle/case/file/json.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {

// What a tap is called, and how the tap of a name is found.
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

std::uint32_t TapIndex::hash_of(const TapView& name) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;  // spreads what differs in few bits
  const std::hash<std::string_view> of_text;
  const auto window = static_cast<std::uint64_t>(name.window), rank = static_cast<std::uint64_t>(name.rank + 1),
             pipe = static_cast<std::uint64_t>(name.pipe + 1),
             micro_batch = static_cast<std::uint64_t>(name.micro_batch);
  std::uint64_t hash =
      of_text(name.tensor) ^ ((window << 32 | (micro_batch & 0xffffffffu)) + (rank << 44) + (pipe << 56)) * odd;
  hash = (hash ^ hash >> 29) * odd + of_text(name.stage);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

void TapIndex::add(const TapView& name) {
  if (count_ + 1 == none) throw std::length_error("a trace of 2^32 taps");
  if (2 * (std::size_t{count_} + 1) > slots_.size()) grow();
  put({hash_of(name), count_++});
}

void TapIndex::put(const Slot& slot) {
  std::size_t i = slot.hash & mask();
  while (slots_[i].number != none) i = (i + 1) & mask();
  slots_[i] = slot;
}

void TapIndex::grow() {
  constexpr std::size_t fewest = 64;
  const std::vector<Slot> before =
      std::exchange(slots_, std::vector<Slot>(slots_.empty() ? fewest : 2 * slots_.size()));
  for (const Slot& slot : before)
    if (slot.number != none) put(slot);
}

namespace {

/// The layer with this label; their number where none has it.
std::size_t layer_with(const Model& model, std::string_view label) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string& name = model.layers[i].name;
    if (name.empty() ? label == label_of(model, i) : label == name) return i;
  }
  return model.layers.size();
}

/// The layer whose label stands last in "in.momentum.fc1.weight", with something behind it: a layer may be called "in" or
/// "momentum". Their number where none does.
std::size_t layer_named(const Case& c, std::string_view tensor) {
  for (std::size_t end = tensor.rfind('.'); end != std::string_view::npos && end > 0;) {
    const std::size_t dot = tensor.rfind('.', end - 1), begin = dot == std::string_view::npos ? 0 : dot + 1;
    if (const std::size_t i = layer_with(c.model, tensor.substr(begin, end - begin)); i < c.model.layers.size())
      return i;
    end = dot;
  }
  return c.model.layers.size();
}

}  // namespace

int part_of_tap(const Case& c, const TapName& name) {
  if (name.stage == StageName::loss) return static_cast<int>(parts_of_model(c).size()) - 1;
  if (const std::size_t i = layer_named(c, name.tensor); i < c.model.layers.size()) {
    const bool of_sum =
        name.stage == StageName::fork || (name.stage == StageName::send && name.tensor.starts_with("in.d."));
    const bool behind = of_sum && name.tensor.ends_with(".y") && is_summed_behind(c, i);
    return static_cast<int>(part_with(c, i)) + int{behind};
  }
  return -1;
}

int stage_of_tap(const Case& c, const TapName& name) {
  if (name.pipe >= 0) return name.pipe;
  const int part = part_of_tap(c, name);
  return part < 0 ? 0 : static_cast<int>(stage_of_part(c, static_cast<std::size_t>(part)));
}

}  // namespace tally
