// Which kernel operation wrote a tap, and which ones read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

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

}  // namespace tally
