// Who is told of every tap as it is made: of a rank that dies, the last one says how far it came.
#pragma once

#include "kernels/trace/tap_name.hpp"

namespace tally {

/// While it lives, it is told of the taps that this thread adds to any trace; of two the younger one is.
class TapWatch {
 public:
  TapWatch();
  virtual ~TapWatch();
  TapWatch(const TapWatch&) = delete;
  TapWatch& operator=(const TapWatch&) = delete;
  virtual void see(const TapView& name) = 0;

 private:
  TapWatch* const outer_;
};

/// Tells the watch of this thread, if there is one.
void tell_tap(const TapView& name);

}  // namespace tally
