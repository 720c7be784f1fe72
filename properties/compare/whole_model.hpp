// What stages over all parameters read, where a trace holds some elements of them only: a capture by samples, or a
// piece of a large one (pieces.hpp).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "kernels/trace/sums_of_squares.hpp"
#include "oracle/window/norm_terms.hpp"

namespace tally {

enum class OverflowFound { none, certain, open };

/// A window's buffers before they are unscaled, those of every element.
struct BuffersOfAll {
  OverflowFound overflow = OverflowFound::none;
  oracle::NormTerms terms;
};

struct WholeWindow {
  BuffersOfAll seen;      // where a walk goes on from the taps
  BuffersOfAll expected;  // from the case alone
  // The bits of all taps of these names; nothing where one is missing.
  std::optional<oracle::NormTerms> read_by_norm;  // norm/in.d
  std::optional<oracle::NormTerms> unscaled;      // unscale/d
  bool non_finite = false;                        // among the bits of overflow_check/in.buffer
};

/// By window. Empty: the trace holds every element, or the window's sums are not known.
using WholeModel = std::map<int, WholeWindow>;

/// The whole model of a capture by samples: what its recorder summed up stands in both walks.
WholeModel whole_model_of(const std::vector<SquaresOfWindow>& sums);

/// While it lives, the walks that are made in this thread read of the others what is said here.
class WholeModelScope {
 public:
  explicit WholeModelScope(const WholeModel& whole);
  ~WholeModelScope();
  WholeModelScope(const WholeModelScope&) = delete;
  WholeModelScope& operator=(const WholeModelScope&) = delete;

 private:
  const WholeModel* before_;
};

/// nullptr where nothing is said of the window.
const WholeWindow* whole_window(int window);

}  // namespace tally
