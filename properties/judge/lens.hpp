// The hard lenses: a trace held, tensor by tensor, against what the oracle expects.
// Defined in judge.cpp, properties/lenses/lenses.cpp.
#pragma once

#include <functional>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What a lens expected of a tap, element by element, and what came: plain numbers.
struct HeldTensor {
  TapName name;
  Dtype dtype;
  std::vector<double> expected, got;
  std::vector<double> bound = {};  // empty: bit for bit
};

// The two hard lenses: a trace held, tensor by tensor, against what the oracle expects.

/// Local: every stage's outputs against the exact function of that stage's own input bits, and the hand-over between
/// stages bit for bit. Checks stand in the order of the taps; the first that fails is where the fault is.
/// A stage whose taps are missing gives a not_run check that names them.
/// `told`, where set, hears of every tap that was gone through, with its bytes. With `follows` an input that is not
/// tapped stands for what the stage before left, where that was tapped.
std::vector<TensorCheck> local_lens(const Case& c, const Trace& trace,
                                    const std::function<void(const std::string& tap, std::size_t bytes)>& told = {},
                                    bool follows = false);

/// End to end: the case's bits alone, value and bound propagated through every stage; ReLU masks and skips are adopted
/// from the trace where the interval leaves them open. A tensor whose bound exceeds its signal is vacuous. The
/// local lens is run where a branch is adopted.
std::vector<TensorCheck> end_to_end_lens(const Case& c, const Trace& trace);
/// The same with what the local lens said of the trace.
std::vector<TensorCheck> end_to_end_after(const Case& c, const Trace& trace, const std::vector<TensorCheck>& local);

/// Bits against bits, ±0 as one value: for exact laws (a tensor of the trace against another).
TensorCheck bitwise_check(const std::string& tap, const std::string& stage, const Tensor& expected, const Tensor& got);

/// The first failing check in stage order (taps' order), nullptr when none fails.
const TensorCheck* first_failure(const std::vector<TensorCheck>& checks);

// Checks in the order of the trace's taps.

/// Sorted by the place of their tap in the trace; a missing tap stays behind the check made before it.
std::vector<TensorCheck> in_order(const Trace& trace, std::vector<TensorCheck> checks);

}  // namespace tally
