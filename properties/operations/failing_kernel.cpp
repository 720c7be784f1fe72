#include "properties/operations/failing_kernel.hpp"

#include "kernels/device/kernel_files.hpp"
#include "properties/compare/lens.hpp"
#include "properties/operations/operation.hpp"

namespace tally {
namespace {

constexpr const char* head_loss = "head_loss";

/// A last layer that runs with the loss, some rows at a time: its gradients are that kernel's.
bool is_of_head(const Case& c, const TapName& name, const Claims& claims) {
  const std::string head = label_of(c.model, c.model.layers.size() - 1);
  return claims.kernels.contains(head_loss) && name.stage == "backward" &&
         (name.tensor.starts_with("d." + head + ".") || name.tensor.ends_with("@" + head));
}

}  // namespace

std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks, const Claims& claims) {
  const TensorCheck* failure = first_failure(checks);
  const bool is_of_a_tap =
      failure != nullptr && (failure->lens == "local" || failure->lens == "group" || failure->lens == "end_to_end");
  if (!is_of_a_tap) return "";
  const TapName name = tap_name_of(failure->tap);
  const std::string operation = is_of_head(c, name, claims) ? head_loss : operation_writing(c, name);
  const std::string variant = operation.empty() ? "" : variant_of(claims, operation);
  if (variant.empty()) return "";
  const auto slash = variant.find('/');  // a fused pass is named whole: "clip_decay_step/multi_tensor"
  const std::string file = slash == std::string::npos
                               ? file_of_kernel(claimed_name_of(operation), variant)
                               : file_of_kernel(variant.substr(0, slash), variant.substr(slash + 1));
  return operation + "/" + variant + (file.empty() ? "" : ", " + file);
}

}  // namespace tally
