// The compensated buffer: its bits, and that it goes on where a plain buffer stalls.
#include "kernels/window/arguments.hpp"
#include "oracle/tolerance/format.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::accumulate_kahan_test {
namespace {

struct Buffer {
  Dtype format;
  DeviceTensor sum, compensation;
  Buffer(Dtype in, std::int64_t elements)
      : format(in), sum(host(), "sum", in, {elements}), compensation(host(), "compensation", in, {elements}) {
    sum.zero();
    compensation.zero();
  }
  void add(const DeviceTensor& gradient, const std::string& variant = "kahan") {
    call<AccumulateArguments>(
        "accumulate", {gradient.dtype, gradient.data(), sum.data(), gradient.shape[0], format, compensation.data()},
        variant);
  }
};

TEST(AccumulateKahan, RoundsEveryOperationOnceToTheBuffersFormat) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const Dtype format : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
      const oracle::Format in = oracle::format_of(format);
      const std::vector<double> numbers = drawn(97 * 9);
      Buffer buffer(format, 97);
      std::vector<double> sum(97), lost(97);
      for (std::size_t step = 0; step < 9; ++step) {
        std::vector<double> gradient(numbers.begin() + static_cast<std::ptrdiff_t>(97 * step),
                                     numbers.begin() + static_cast<std::ptrdiff_t>(97 * (step + 1)));
        for (double& g : gradient) g *= step % 3 == 1 ? 0x1p-9 : 1;
        const DeviceTensor there = on_device(gradient, storage);
        buffer.add(there);
        const std::vector<double> read = values_of(there);
        for (std::size_t i = 0; i < 97; ++i) {
          const double y = oracle::rounded_sum(in, oracle::rounded(in, read[i]), -lost[i]);
          const double t = oracle::rounded_sum(in, sum[i], y);
          lost[i] = oracle::rounded_sum(in, oracle::rounded_sum(in, t, -sum[i]), -y);
          sum[i] = t;
        }
        ASSERT_EQ(values_of(buffer.sum), sum) << name_of(storage) << " in " << name_of(format);
        ASSERT_EQ(values_of(buffer.compensation), lost) << name_of(storage) << " in " << name_of(format);
      }
    }
  }
}

TEST(AccumulateKahan, GoesOnWhereAPlainBufferStalls) {
  const DeviceTensor one = on_device({1.0}, Dtype::bf16);
  Buffer plain(Dtype::bf16, 1), compensated(Dtype::bf16, 1);
  for (int i = 0; i < 1024; ++i) {
    plain.add(one, "grid_stride");
    compensated.add(one);
  }
  EXPECT_EQ(values_of(plain.sum).front(), 256);
  EXPECT_EQ(values_of(compensated.sum).front(), 1024);
}

}  // namespace
}  // namespace tally::accumulate_kahan_test
