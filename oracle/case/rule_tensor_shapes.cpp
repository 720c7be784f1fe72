#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/rules.hpp"

namespace tally {
namespace {

void check_tensor(const std::string& name, const Tensor& tensor, const ExpectedTensor& expected, Findings& findings) {
  const std::string wanted = described(expected.dtype, expected.shape);
  if (tensor.dtype != expected.dtype || tensor.shape != expected.shape)
    findings.add_broken(tensor_path(name), described(tensor.dtype, tensor.shape), wanted);
  else if (tensor.bytes.size() != elements_of(tensor.shape) * size_of(tensor.dtype))
    findings.add_broken(tensor_path(name), std::to_string(tensor.bytes.size()) + " bytes", wanted);
}

}  // namespace

void check_tensor_shapes(const Case& c, Findings& findings) {
  const auto expected = expected_tensors(c);
  for (const auto& [name, tensor] : c.tensors) {
    const auto found = expected.find(name);
    if (found != expected.end())
      check_tensor(name, tensor, found->second, findings);
    else
      findings.add_broken(tensor_path(name), "an unknown tensor", "a tensor of this model and optimizer");
  }
  for (const auto& [name, tensor] : expected)
    if (tensor.required && !c.tensors.contains(name) && findings.sound(tensor_path(name)))
      findings.add_broken(tensor_path(name), "nothing", described(tensor.dtype, tensor.shape));
}

}  // namespace tally
