#include "reports/command_line/verify/kernel_file.hpp"

#include "kernels/device/kernel_files.hpp"
#include "properties/operations/operation.hpp"

namespace tally::command_line {

std::string file_of(const std::string& operation, const std::string& variant) {
  if (claimed_name_of(operation) != "gemm") return file_of_kernel(operation, variant);
  const std::string product = variant.starts_with("cublas") ? "cuBLAS" : "kernels/device/host_gemm.cpp";
  const std::string after = "kernels/linear/bias_add.cu";
  if (variant.empty()) return after + " or what makes every product, " + product;
  return product + (operation == "linear.forward" ? " or " + after + ", after it" : "");
}

}  // namespace tally::command_line
