#include "properties/operations/failing_kernel.hpp"

#include <algorithm>

#include "kernels/device/kernel_file.hpp"
#include "properties/compare/lens.hpp"
#include "properties/operations/operation.hpp"

namespace tally {

std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks,
                           const std::vector<OperationRecord>& operations, ExecutorKind executor) {
  const TensorCheck* failure = first_failure(checks);
  const bool is_of_a_tap =
      failure != nullptr && (failure->lens == "local" || failure->lens == "group" || failure->lens == "end_to_end");
  if (!is_of_a_tap) return "";
  const std::string operation = operation_writing(c, tap_name_of(failure->tap));
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const OperationRecord& o) { return o.operation == operation; });
  if (operation.empty() || found == operations.end() || found->variant.empty()) return "";
  const std::string file = kernel_file(claimed_name_of(operation), executor, found->variant);
  return operation + "/" + found->variant + (file.empty() ? "" : ", " + file);
}

}  // namespace tally
