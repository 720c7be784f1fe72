#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/subjects/plugin/library_run.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::guarded_inputs_test {
namespace {

std::byte* bytes_of(const GuardedInputs& inputs, const char* name) {
  return static_cast<std::byte*>(const_cast<void*>(inputs.find(name)->data));
}

TEST(GuardedInputs, HoldEveryTensorBitForBitInTheOrderOfTheNames) {
  const Case c = small_case();

  const GuardedInputs inputs(c.tensors);

  ASSERT_EQ(inputs.tensors().size(), c.tensors.size());
  auto next = inputs.tensors().begin();
  for (const auto& [name, tensor] : c.tensors) {
    EXPECT_EQ(next->name, name);
    EXPECT_EQ(std::vector<std::int64_t>(next->shape, next->shape + next->rank), tensor.shape);
    EXPECT_EQ(next->bytes, tensor.bytes.size());
    EXPECT_EQ(std::memcmp(next->data, tensor.bytes.data(), next->bytes), 0);
    ++next;
  }
  EXPECT_EQ(inputs.damage(), "");
}

TEST(GuardedInputs, TellWhichInputChanged) {
  const Case c = small_case();
  const GuardedInputs inputs(c.tensors);

  bytes_of(inputs, "x")[3] ^= std::byte{1};

  EXPECT_EQ(inputs.damage(), "the input 'x' changed during the run; expected its bits to stay");
}

TEST(GuardedInputs, SeeEveryByteBetweenTheTensors) {
  const Case c = small_case();
  const GuardedInputs inputs(c.tensors);
  const std::byte* const end = bytes_of(inputs, "x") + inputs.find("x")->bytes;

  for (int beyond = 0; beyond < 64; ++beyond) {
    const_cast<std::byte*>(end)[beyond] = std::byte{0};
    EXPECT_NE(inputs.damage(), "") << beyond;
    const_cast<std::byte*>(end)[beyond] = std::byte{0xff};
  }
  const auto& first = inputs.tensors().front();
  const_cast<std::byte*>(static_cast<const std::byte*>(first.data))[-1] = std::byte{0};
  EXPECT_EQ(inputs.damage(), "it wrote before the beginning of the input '" + std::string(first.name) + "'");
}

}  // namespace
}  // namespace tally::guarded_inputs_test
