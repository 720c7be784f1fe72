// How far a run has come: where it is, and who is told of every tap.
#include "kernels/trace/last_place.hpp"

#include <algorithm>
#include <utility>

namespace tally {
namespace {

LastPlace* noted = nullptr;

template <std::size_t Size>
void write(char (&to)[Size], std::string_view text) {
  const std::size_t count = std::min(text.size(), Size - 1);
  std::copy_n(text.begin(), count, to);
  to[count] = '\0';
}

}  // namespace

void note_places_in(LastPlace* place) { noted = place; }

void note_operation(std::string_view operation) {
  if (noted != nullptr) write(noted->operation, operation);
}

void note_tap(const TapName& name) {
  if (noted != nullptr) write(noted->tap, name.text());
}

void note_run_ended() {
  if (noted != nullptr) *noted = {};
}

std::string text_of(const LastPlace& place) {
  std::string text;
  if (place.operation[0] != '\0') text = std::string(" in ") + place.operation;
  if (place.tap[0] != '\0') text += std::string(text.empty() ? "" : ",") + " behind " + place.tap;
  return text;
}

namespace {

thread_local TapWatch* watching = nullptr;

}  // namespace

TapWatch::TapWatch() : outer_(std::exchange(watching, this)) {}
TapWatch::~TapWatch() { watching = outer_; }

void tell_tap(const TapView& name) {
  if (watching != nullptr) watching->see(name);
}

}  // namespace tally
