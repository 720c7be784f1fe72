#include "kernels/trace/trace.hpp"

#include <utility>

namespace tally {

void Trace::add(TapName name, Tensor value) {
  const auto [place, fresh] = index_.try_emplace(name.text(), taps_.size());
  if (fresh) {
    taps_.push_back({std::move(name), std::move(value)});
  } else if (!name.tensor.starts_with("in.")) {
    taps_[place->second].value = std::move(value);
  }
}

const Tensor* Trace::find(const std::string& name) const {
  const auto place = index_.find(name);
  return place == index_.end() ? nullptr : &taps_[place->second].value;
}

}  // namespace tally
