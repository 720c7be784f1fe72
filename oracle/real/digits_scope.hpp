// A precision that ends with the block.
#pragma once

#include "oracle/real/real.hpp"

namespace tally::oracle {

/// Restores the precision of before when it goes.
class DigitsScope {
 public:
  explicit DigitsScope(unsigned now) : before_(digits()) { set_digits(now); }
  ~DigitsScope() { set_digits(before_); }
  DigitsScope(const DigitsScope&) = delete;
  DigitsScope& operator=(const DigitsScope&) = delete;

 private:
  unsigned before_;
};

}  // namespace tally::oracle
