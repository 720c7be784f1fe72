// Which tensors of a run repeat bit for bit, by what its kernels claim. One that repeats within its claim only (float
// atomics) leaves bits of its own in every run, and so does everything computed from them.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/trace.hpp"

namespace tally {

class PromisedBits {
 public:
  /// By the claims of the trace, and by what it tapped: a norm that no stage took harms nothing.
  explicit PromisedBits(const Trace& trace);

  /// Whether every kernel between the case's bits and this tensor promises its bits. Errs on the side of no promise:
  /// after the first window's first sum without one, nothing of a later window has any.
  bool of(const TapName& tap) const;
  /// "norm by atomic_add, linear.bias_gradient by atomic_add"; empty where everything is promised.
  const std::string& without() const { return without_; }

 private:
  bool bias_gradients_ = true, backward_ = true, norm_ = true, sums_ = true, others_ = true;
  std::string_view first_of_sums_;  // the first stage that takes a sum over ranks in
  std::string without_;
};

}  // namespace tally
