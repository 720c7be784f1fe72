// Which kernel operation wrote a tensor and which ones read it, which wrote the first that fails, and what each left in
// the runs that a law judged. Defined in operation.cpp, operation_scope.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"
#include "properties/laws/run_and_check.hpp"
#include "reports/record/record.hpp"

namespace tally {

// Which kernel operation wrote a tap, and which ones read it.

/// The operation that writes this output, as the kernel registry names it; the products of a linear layer, which one
/// GEMM makes, are linear.forward, linear.input_gradient and linear.weight_gradient. A stage without kernels is its own
/// operation ("schedule"). Empty for an input (`in.…`) and for a tap that the case cannot have.
std::string operation_writing(const Case& c, const TapName& name);

/// The operations that read this tap: of an input those of its stage and layer; of the statistics that batch_norm and
/// layer_norm leave, of the parameters' gradients of batch_norm, whose sums dx needs, and of the clip's coefficient,
/// what uses them. Empty where it is not known.
std::vector<std::string> operations_reading(const Case& c, const TapName& name);

/// The operation whose numbers this one reads too where no tap holds their bits: batch_norm.backward takes in the fp32
/// sums of batch_norm.parameter_gradients, whose taps are rounded to the storage format, absent where the layer is not
/// affine, and of other rows where a window shares its statistics. Empty: none.
std::string unseen_by(const Case& c, const std::string& operation);

/// The formats that each operation of a run stores its tensors in, several sorted with a space between: "fp16 fp32".
std::map<std::string, std::string> formats_written(const Case& c, const Trace& trace);

/// What the claims of a run call the kernel behind an operation: "gemm" for the products of a linear layer.
std::string claimed_name_of(const std::string& operation);

/// The variant that a run claims for an operation; empty where it claims none. A fused pass is named whole in the place
/// of the variants that it stands for: "clip_decay_step/multi_tensor" of "sgd".
std::string variant_of(const Claims& claims, const std::string& operation);

/// "norm/two_stage, kernels/reduction/norm.cu"; empty where no tensor fails or no kernel is registered for its
/// operation. `checks` and `claims`: of one run of the case.
std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks, const Claims& claims);

// What every kernel operation read and wrote in the runs that a law judged.

/// The operations of the runs that a law checks while it lives.
class OperationScope : public RunObserver {
 public:
  void see_run(const Case& c, const CheckedRun& run) override;
  void see(const Case& c, const Trace& trace);

  /// The records of the runs seen so far, sorted by operation and variant; drift and standing, from the checks of the
  /// local lens, of all variants of an operation together.
  std::vector<OperationRecord> records(const Case& c, const std::vector<TensorCheck>& checks) const;

  /// How long each operation took in all of them.
  const std::map<std::string, double>& seconds() const { return seconds_; }

  /// The kernel that wrote the first tensor that fails (operation.hpp), in the run in which it did: a law may run
  /// other variants than the case's own. Empty where no run seen so far failed there.
  std::string failing_kernel(const std::vector<TensorCheck>& checks) const;

 private:
  struct Seen {
    std::string inputs, outputs;  // bytes so far, of every run that this kernel took part in
    bool repeats = true;
    std::set<std::string> formats, shapes;  // of what it wrote
  };
  std::map<std::string, double> seconds_;
  std::map<std::string, std::string> failing_;  // by the first tap that failed in a run, the first such run
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by operation and variant: runs may differ in it
};

}  // namespace tally
