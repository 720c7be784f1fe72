// The products' operands below the normal range are read as zero.
#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::subnormals_flushed_fault {
namespace {

DeviceTensor flushed(Run& run, const void* operand, Dtype dtype, std::int64_t elements) {
  Tensor values = read(run, operand, dtype, {elements});
  const double least = magnitude() * format_row(dtype).smallest_normal();
  for (std::size_t i = 0; i < values.elements(); ++i) {
    if (std::fabs(values.value(i)) < least) values.set(i, 0);
  }
  return DeviceTensor(run.device, "flushed operand", values);
}

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  const DeviceTensor a = flushed(run, call.a, call.operands, call.m * call.k);
  const DeviceTensor b = flushed(run, call.b, call.operands, call.k * call.n);
  GemmCall narrower = call;
  narrower.a = a.data();
  narrower.b = b.data();
  stage::gemm(run, narrower, order);
  run.stream.synchronize();
}

const RegisterFault registered{{
    .name = "subnormals-flushed",
    .stage = "backward",
    .right = "subnormal operands count",
    .wrong = "subnormal operands are 0",
    .condition = "fp16, gradients below 2^-14",
    .knob = "value",
    .source = "pytorch 182952, PR 183766, rocm-libraries 11938",
    .laws = {"subnormals_are_kept"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::subnormals_flushed_fault
