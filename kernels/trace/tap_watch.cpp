#include "kernels/trace/tap_watch.hpp"

#include <utility>

namespace tally {
namespace {

thread_local TapWatch* watching = nullptr;

}  // namespace

TapWatch::TapWatch() : outer_(std::exchange(watching, this)) {}
TapWatch::~TapWatch() { watching = outer_; }

void tell_tap(const TapView& name) {
  if (watching != nullptr) watching->see(name);
}

}  // namespace tally
