#include "properties/operations/failing_kernel.hpp"

#include <algorithm>

#include "kernels/device/kernel_files.hpp"
#include "properties/compare/lens.hpp"
#include "properties/operations/operation.hpp"

namespace tally {

std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks,
                           const std::vector<OperationRecord>& operations) {
  const TensorCheck* failure = first_failure(checks);
  const bool is_of_a_tap =
      failure != nullptr && (failure->lens == "local" || failure->lens == "group" || failure->lens == "end_to_end");
  if (!is_of_a_tap) return "";
  const std::string operation = operation_writing(c, tap_name_of(failure->tap));
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const OperationRecord& o) { return o.operation == operation; });
  if (operation.empty() || found == operations.end() || found->variant.empty()) return "";
  const auto slash = found->variant.find('/');  // a fused pass is named whole: "clip_decay_step/multi_tensor"
  const std::string file = slash == std::string::npos
                               ? file_of_kernel(claimed_name_of(operation), found->variant)
                               : file_of_kernel(found->variant.substr(0, slash), found->variant.substr(slash + 1));
  return operation + "/" + found->variant + (file.empty() ? "" : ", " + file);
}

}  // namespace tally
