#include "reports/command_line/check/claims_in_short.hpp"

#include "oracle/case/json_form.hpp"
#include "reports/text/numbers.hpp"

namespace tally::command_line {
namespace {

constexpr std::size_t most_operations = 100, longest_word = 80;

void add(std::string& line, const std::string& part) { line += (line.empty() ? "" : ", ") + part; }

std::string of_all(const Claims& claims) {
  std::string line;
  add(line, "recipe constants in " + claims.constants);
  add(line, "divided by " + claims.divide);
  if (claims.factor != Claims{}.factor) add(line, "the factor in " + claims.factor);
  if (claims.flushes_subnormals) add(line, "products flush subnormals");
  if (claims.tensor_cores) add(line, "products on tensor cores");
  if (claims.tensor_core != Claims{}.tensor_core) add(line, "of the generation " + claims.tensor_core);
  if (claims.tf32_rounding != Claims{}.tf32_rounding) add(line, "TF32 operands: " + claims.tf32_rounding);
  return line;
}

std::string of_kernel(const KernelClaim& claim) {
  std::string line;
  if (!claim.variant.empty()) add(line, shortened(claim.variant, longest_word));
  add(line, claim.repeats == Repeats::bitwise ? "same bits each time" : "bits differ from run to run");
  if (!claim.algorithm.empty()) add(line, "algorithm " + shortened(claim.algorithm, longest_word));
  if (!claim.additions.empty())
    add(line, "additions in " + counted(claim.additions.size(), "step"));
  else
    add(line, claim.height == 0 ? "any order of additions" : "height " + std::to_string(claim.height));
  if (claim.global_float_atomics) add(line, "atomic additions");
  if (claim.splits != 1) add(line, claim.splits == 0 ? "any split" : counted(claim.splits, "part"));
  if (claim.function_ulp != 0) add(line, "functions within " + shortest(claim.function_ulp) + " ulp");
  if (claim.as_written) add(line, "arithmetic as written");
  return line;
}

}  // namespace

std::vector<std::string> claims_in_short(const Claims& claims) {
  std::vector<std::string> lines{"subject: " + shortened(claims.subject, longest_word), of_all(claims)};
  std::size_t told = 0;
  for (const auto& [operation, claim] : claims.kernels) {
    if (told++ == most_operations) {
      lines.push_back("and " + std::to_string(claims.kernels.size() - most_operations) + " more operations");
      break;
    }
    lines.push_back(shortened(operation, longest_word) + ": " + of_kernel(claim));
  }
  return lines;
}

}  // namespace tally::command_line
