// Files in which one tap has another form, is missing or stands twice.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::hostile_trace_test {
namespace {

/// What the file is refused with; empty where it is read.
std::string refusal(const std::string& bytes, const Case& c) {
  const auto file = std::filesystem::path(testing::TempDir()) /
                    (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".safetensors");
  std::ofstream(file, std::ios::binary) << bytes;
  try {
    read_trace(file, c);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(HostileTrace, NamesATapOfAnotherFormatOrShape) {
  const Case c = small_case();
  const TensorFile whole = read_safetensors(bytes_of(run(c)));
  ASSERT_FALSE(whole.tensors.empty());
  for (const auto& [name, tensor] : whole.tensors) {
    std::vector<std::int64_t> longer = tensor.shape;
    longer.push_back(1);
    const Dtype other = tensor.dtype == Dtype::i64 ? Dtype::fp32 : Dtype::i64;
    for (const Tensor& wrong : {Tensor(other, tensor.shape), Tensor(tensor.dtype, longer), Tensor(tensor.dtype, {0})}) {
      TensorFile changed = whole;
      changed.tensors[name] = wrong;
      const std::string said = refusal(write_safetensors(changed), c);
      EXPECT_NE(said.find(name + ": found "), std::string::npos) << name << " " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
  }
}

TEST(HostileTrace, IsReadWithoutATapAndRefusedWithOneTwice) {
  const Case c = small_case();
  const std::string bytes = bytes_of(run(c));
  const TensorFile whole = read_safetensors(bytes);
  for (const auto& [name, tensor] : whole.tensors) {
    TensorFile fewer = whole;
    fewer.tensors.erase(name);
    EXPECT_EQ(refusal(write_safetensors(fewer), c), "") << name;
  }
  // Two names of one length in the header: the second becomes the first.
  std::string twice = bytes;
  const std::string one = "\"w0/schedule/in.step\"", other = "\"w1/schedule/in.step\"";
  ASSERT_NE(twice.find(other + ":"), std::string::npos);
  twice.replace(twice.find(other + ":"), other.size(), one);
  const std::string said = refusal(twice, c);
  EXPECT_NE(said.find("the key twice"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

}  // namespace
}  // namespace tally::hostile_trace_test
