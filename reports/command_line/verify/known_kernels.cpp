#include "reports/command_line/verify/known_kernels.hpp"

#include <set>
#include <string>

#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/grid_choice.hpp"
#include "oracle/case/json.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

using Names = std::set<std::string>;

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Names operations() {
  Names names;
  for (const RegisteredKernel* kernel : registered_kernels()) names.insert(kernel->operation);
  return names;
}

/// The variants of the executor; a product's way to multiply counts wherever it is known, as the others ignore it.
Names variants_of(const std::string& operation, ExecutorKind executor) {
  Names names;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (kernel->operation == operation && (kernel->executor == executor || operation == "gemm"))
      names.insert(kernel->claim.variant);
  return names;
}

Names without_planted(Names names) {
  std::erase_if(names, [](const std::string& name) { return name.starts_with('~'); });
  return names;
}

}  // namespace

void require_known_kernels(const Case& c, const RunOptions& subject) {
  for (const auto& [operation, variant] : c.execution.kernels) {
    if (operation.starts_with("gemm.") || operation == most_blocks_key) continue;  // rules of the case hold these
    const std::string path = member_path("$.execution.kernels", operation);
    const Names variants = variants_of(operation, subject.executor);
    if (variants.empty())
      throw UsageError(path + ": found an operation without kernels, expected one of " + listed(operations()));
    if (!variant.empty() && !variants.contains(variant))
      throw UsageError(path + ": found " + json_string(variant) + ", expected one of " +
                       listed(without_planted(variants)) + " (tally list kernels)");
  }
}

}  // namespace tally::command_line
