// Which kernel wrote the first tensor that fails.
#pragma once

#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// "norm/two_stage, kernels/reduction/norm.cu"; empty where no tensor fails or no kernel is registered for its
/// operation. `checks` and `claims`: of one run of the case.
std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks, const Claims& claims);

}  // namespace tally
