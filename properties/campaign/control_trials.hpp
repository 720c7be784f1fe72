// The control of one law, tried on its cases until it has differed.
#pragma once

#include <optional>

#include "properties/laws/law.hpp"

namespace tally {

class ControlTrials {
 public:
  ControlTrials(const Law& law, const RunOptions& subject) : law_(law), subject_(subject) {}

  /// Whether there is one that has not differed yet, and was not tried too often.
  bool wanted() const;
  /// What failed where a step of a user's own left no trace of it; nothing otherwise. A control that cannot run on this
  /// case may on the next one.
  std::optional<Outcome> try_on(const Case& c);
  bool differed() const { return differed_; }
  /// A step of a user's own declined every one: nothing shows that the law could have failed.
  bool all_declined() const { return declined_ > 0 && run_ == 0; }

 private:
  const Law& law_;
  const RunOptions subject_;
  bool differed_ = false;
  int tried_ = 0, run_ = 0, declined_ = 0;
};

}  // namespace tally
