#include "kernels/trace/trace.hpp"

#include <utility>

#include "kernels/trace/tap_watch.hpp"

namespace tally {

Trace::Trace() = default;
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

void Trace::add(TapName name, Tensor value) {
  tell_tap(name.view());
  if (const auto place = place_of(name.view()); !place) {
    index_.add(name.view());
    taps_.push_back({std::move(name), std::move(value)});
  } else if (!name.tensor.starts_with("in.")) {
    taps_[*place].value = std::move(value);
  }
}

std::optional<std::size_t> Trace::place_of(const TapView& name) const {
  return index_.find(name, [this](std::size_t number) { return taps_[number].name.view(); });
}

const Tensor* Trace::find(const TapView& name) const {
  const auto place = place_of(name);
  return place ? &taps_[*place].value : nullptr;
}

const Tensor* Trace::find(std::string_view name) const {
  const auto view = tap_view_of(name);
  return view ? find(*view) : nullptr;
}

}  // namespace tally
