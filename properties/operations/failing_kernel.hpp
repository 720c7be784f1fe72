// Which kernel wrote the first tensor that fails.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// "norm/two_stage, kernels/reduction/norm.cu"; empty where no tensor fails or no kernel is registered for its
/// operation. `operations`: of a run of the same case.
std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks,
                           const std::vector<OperationRecord>& operations);

}  // namespace tally
