#include "kernels/device/device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/devices.hpp"
#include "kernels/device/half.hpp"

namespace tally::device_test {
namespace {

Device& host() { return device(ExecutorKind::host); }

TEST(Buffers, StartAsNanInEveryFormat) {
  const Buffer buffer(host(), "fresh", Dtype::fp32, 8);
  float values[8];
  half halves[16];

  host().read(buffer.data(), values, sizeof values);
  host().read(buffer.data(), halves, sizeof halves);

  for (const float value : values) EXPECT_TRUE(std::isnan(value));
  for (const half value : halves) EXPECT_TRUE(std::isnan(to_float(value)));
}

TEST(Buffers, KeepWhatIsWritten) {
  const Buffer buffer(host(), "kept", Dtype::i64, 3);
  const std::int64_t in[3] = {1, -2, 3};
  std::int64_t out[3] = {};

  host().write(buffer.data(), in, sizeof in);
  host().read(buffer.data(), out, sizeof out);
  EXPECT_EQ(std::memcmp(in, out, sizeof in), 0);

  host().zero(buffer.data(), sizeof in);
  host().read(buffer.data(), out, sizeof out);
  EXPECT_EQ(out[0] | out[1] | out[2], 0);
}

TEST(Buffers, MoveTheirMemory) {
  Buffer first(host(), "first", Dtype::u8, 4);
  void* data = first.data();

  Buffer second = std::move(first);

  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): what a move leaves
}

TEST(GuardZones, AreIntactAfterWritingEveryByte) {
  const Buffer buffer(host(), "whole", Dtype::u8, 37);

  host().fill(buffer.data(), 1, 37);

  EXPECT_EQ(host().check_guards(), "");
}

TEST(GuardZones, ShowTheVeryNextByteOnBothSides) {
  const Buffer buffer(host(), "layer.weight", Dtype::u8, 37);
  auto* data = static_cast<std::byte*>(buffer.data());

  data[37] = std::byte{0};
  EXPECT_EQ(host().check_guards(),
            "buffer 'layer.weight' of 37 bytes: 1 bytes written behind it, the nearest 0 bytes away\n");
  data[-3] = std::byte{0};
  EXPECT_EQ(host().check_guards(),
            "buffer 'layer.weight' of 37 bytes: 1 bytes written before it, the nearest 2 bytes away\n");
  EXPECT_EQ(host().check_guards(), "");
}

TEST(GuardZones, ShowEveryByteOfBothZones) {
  const Buffer buffer(host(), "all", Dtype::fp16, 5);
  auto* data = static_cast<std::byte*>(buffer.data());
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    data[10 + i] ^= std::byte{1};
    EXPECT_NE(host().check_guards(), "") << i;
    data[-1 - static_cast<std::ptrdiff_t>(i)] ^= std::byte{1};
    EXPECT_NE(host().check_guards(), "") << i;
  }
}

TEST(GuardZones, AreCheckedWhenABufferIsReleased) {
  {
    const Buffer buffer(host(), "short-lived", Dtype::fp32, 1);
    static_cast<float*>(buffer.data())[1] = 0.0f;
  }

  EXPECT_NE(host().check_guards().find("'short-lived' of 4 bytes: 4 bytes written behind it"), std::string::npos);
  EXPECT_EQ(host().check_guards(), "");
}

TEST(GuardZones, AreReportedFromTheOldestBufferOn) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 20; ++i) buffers.emplace_back(host(), "n" + std::to_string(i), Dtype::u8, 1 + i * 977 % 5000);
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    static_cast<std::byte*>(buffers[i].data())[buffers[i].elements()] = std::byte{0};
    expected += "buffer 'n" + std::to_string(i) + "' of " + std::to_string(buffers[i].elements()) +
                " bytes: 1 bytes written behind it, the nearest 0 bytes away\n";
  }

  EXPECT_EQ(host().check_guards(), expected);
}

TEST(GuardZones, AreNanForWhoReadsThem) {
  const Buffer buffer(host(), "read beyond", Dtype::fp32, 1);
  const auto* values = static_cast<const float*>(buffer.data());
  const auto* halves = static_cast<const half*>(buffer.data());
  const auto* brains = static_cast<const bfloat16*>(buffer.data());

  for (int i = 1; i <= 64; ++i) EXPECT_TRUE(std::isnan(values[i]) && std::isnan(values[-i]));
  for (int i = 2; i <= 129; ++i) {
    EXPECT_TRUE(std::isnan(to_float(halves[i])) && std::isnan(to_float(brains[i])));
  }
}

TEST(GuardZones, OfOneBufferAreDamageInAnother) {
  const Buffer first(host(), "first", Dtype::fp32, 1), second(host(), "second", Dtype::fp32, 1);
  const auto* from = static_cast<const float*>(first.data());
  auto* to = static_cast<float*>(second.data());

  for (int i = 1; i <= 4; ++i) to[i] = from[i];

  EXPECT_NE(host().check_guards().find("'second'"), std::string::npos);
}

TEST(Devices, NameTheirKind) {
  EXPECT_EQ(host().kind(), ExecutorKind::host);
  EXPECT_EQ(name_of(ExecutorKind::cuda), "cuda");
}

TEST(Devices, ThrowDeviceAbsentOrWork) {
  try {
    Device& cuda = device(ExecutorKind::cuda);
    EXPECT_EQ(cuda.kind(), ExecutorKind::cuda);
  } catch (const DeviceAbsent& absent) {
    EXPECT_NE(std::string(absent.what()).find("no CUDA device: "), std::string::npos) << absent.what();
  }
}

}  // namespace
}  // namespace tally::device_test
