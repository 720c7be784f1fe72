#include "properties/campaign/rescue.hpp"

#include <algorithm>

namespace tally {

std::optional<Death> Rescue::died(const Death& death) {
  const auto after = static_cast<std::int64_t>(death.step) + 1;
  if (!first_) {
    first_ = death;
    dies_ = after;
    tried_ = dies_ - 1;
  } else {
    dies_ = std::min({dies_, after, tried_});
    tried_ = answers_ + (dies_ - answers_) / 2;
  }
  return next();
}

std::optional<Death> Rescue::answered(std::string answer) {
  best_ = std::move(answer);
  if (!first_) return std::nullopt;
  answers_ = tried_;
  tried_ = answers_ + (dies_ - answers_) / 2;
  return next();
}

std::optional<Death> Rescue::next() const {
  if (tried_ <= answers_ || tried_ >= dies_) return std::nullopt;
  return Death{first_->how, first_->from_outside, static_cast<std::uint64_t>(tried_)};
}

std::string Rescue::result() const { return best_ ? *best_ : first_ ? "crash: " + first_->how : ""; }

}  // namespace tally
