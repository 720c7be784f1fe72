// What a diagnosis reads: the case, the subject's own bits, and the tensors of the stage that fails first.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/case.hpp"
#include "properties/compare/held_tensor.hpp"
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
  /// 0 where the window has no such micro-batch, as of a rank that adds up with others without one of its own.
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

}  // namespace tally
