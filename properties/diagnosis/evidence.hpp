// What a diagnosis reads: the case, the subject's own bits, the tensors of the stage that fails first; and what the
// stage would have left, had these been others.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/case.hpp"
#include "properties/judge/lens.hpp"
#include "reports/record/record.hpp"

namespace tally {

using Values = std::vector<double>;

/// The failing check, and every tensor of its kind in the trace (all windows, micro-batches and parameters, those that
/// pass too): a formula that is right for one must be right for all.
class Evidence {
 public:
  /// `check` is the first failure, of the local lens or of a group of stages, whose tensors are then held against what
  /// they were to leave together; or a relation that a law found broken: then nothing is held.
  Evidence(const Case& the_case, const Trace& the_trace, const TensorCheck& the_check);

  const Case& c;
  const Trace& trace;
  const TensorCheck& check;
  std::vector<HeldTensor> held;
  /// The taps of `held`.
  std::set<std::string> names() const;
  /// The tensor that fails; nullptr where it is not held.
  const HeldTensor* failing() const;

  /// nullopt where it was not tapped, or in another shape than the case gives it: formulas count on that.
  std::optional<Values> tap(int window, int micro_batch, const std::string& stage, const std::string& tensor) const;
  /// A number that was tapped, else `otherwise`.
  double scalar(int window, const std::string& stage, const std::string& tensor, double otherwise) const;
  int micro_batches(int window) const { return static_cast<int>(c.windows[static_cast<std::size_t>(window)].size()); }
  /// 0 where the window has no such micro-batch, as for a rank without rows that takes part in a sum.
  std::int64_t rows(int window, int micro_batch) const;
  std::int64_t rows(int window) const;
  /// n_k and N.
  double items(int window, int micro_batch) const;
  double items(int window) const;
  /// S, as the window was run with.
  double scale(int window) const;

 private:
  mutable TapLayouts layouts_;
};

/// The parameter in `<prefix><parameter>`; empty where the tensor is named otherwise.
std::string parameter_in(const Evidence& evidence, const HeldTensor& held, const std::string& prefix);

/// Element by element.
Values times(const Values& values, double factor);
/// Rounded to the nearest of the format.
double rounded_to(Dtype dtype, double value);

// What a stage would have left, had the case or the bits that it read been others.

/// One way in which a stage may have gone wrong, and what it would have left: `left[i]` for `evidence.held[i]`, nullopt
/// where it leaves that tensor right.
struct Hypothesis {
  std::vector<std::optional<Values>> left;
  std::string sentence, formula;  // for people
  int parameters = 0;             // numbers that were fitted to the result
  double tries = 1;               // values that one of them could have taken to say as much
  double rivals = 0;              // how many ways come before this one in plausibility; 0: as many as its suspect has
  std::vector<std::optional<Values>> bounds = {};  // of `left`, where an element has the bound of another place
};

/// The oracle's own rules on this case and this trace, in place of the evidence's, for every held tensor; empty where
/// they cannot be applied. A tensor whose expectation does not change is nullopt. `bounds`, where set, takes theirs.
std::vector<std::optional<Values>> what_if(const Evidence& evidence, const Case& c, const Trace& trace,
                                           std::vector<std::optional<Values>>* bounds = nullptr);

/// A copy of the trace with some of its taps' values changed; nullopt keeps the bits.
Trace altered(const Trace& trace, const std::function<std::optional<Tensor>(const Tap& tap)>& change);

/// A trace some of whose taps read as one thing after another: what none of them changes is copied once.
class AlteredTrace {
 public:
  /// The trace must live as long.
  explicit AlteredTrace(const Trace& trace) : original_(trace), now_(trace) {}

  /// The taps of these numbers with other values, nullopt keeps the bits; all others as they were. Whether a bit differs.
  bool alter(const std::vector<std::size_t>& taps, const std::function<std::optional<Tensor>(const Tap& tap)>& change);
  const Trace& now() const { return now_; }

 private:
  const Trace& original_;
  Trace now_;
  std::vector<std::size_t> altered_;
};

/// Whether anything changes at all, for the tensor that fails.
bool says_something(const Evidence& evidence, const Hypothesis& hypothesis);

}  // namespace tally
