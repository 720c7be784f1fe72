#include "kernels/device/probes.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/device/blas.hpp"
#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/half.hpp"

namespace tally {
namespace {

/// Calls gemm on the device with operands and result of its own.
class Products {
 public:
  explicit Products(Device& on) : device_(on), stream_(on) {}

  /// sum of a[i] b[i], operands and result in fp32.
  float dot(const std::vector<float>& a, const std::vector<float>& b, bool tf32 = false) {
    GemmCall call{.m = 1, .n = 1, .k = std::ssize(a), .tf32 = tf32};
    return multiplied<float, float>(a, b, call)[0];
  }

  /// The same of fp16 operands, to fp32.
  float dot_of_halves(const std::vector<float>& a, const std::vector<float>& b) {
    GemmCall call{.m = 1, .n = 1, .k = std::ssize(a), .operands = Dtype::fp16};
    return multiplied<half, float>(halves(a), halves(b), call)[0];
  }

  float dot_in_half(const std::vector<float>& a, const std::vector<float>& b) {
    GemmCall call{
        .m = 1, .n = 1, .k = std::ssize(a), .operands = Dtype::fp16, .result = Dtype::fp16, .compute = Dtype::fp16};
    return to_float(multiplied<half, half>(halves(a), halves(b), call)[0]);
  }

  std::vector<float> square(const std::vector<float>& a, const std::vector<float>& b, std::int64_t size) {
    return multiplied<float, float>(a, b, {.m = size, .n = size, .k = size});
  }

 private:
  static std::vector<half> halves(const std::vector<float>& from) {
    std::vector<half> all;
    for (const float each : from) all.push_back(from_float<half>(each));
    return all;
  }

  template <class S, class R>
  std::vector<R> multiplied(const std::vector<S>& a, const std::vector<S>& b, GemmCall call) {
    std::vector<R> c(static_cast<std::size_t>(call.m * call.n));
    Buffer on_a(device_, "a", dtype_of_storage<S>, a.size()), on_b(device_, "b", dtype_of_storage<S>, b.size()),
        on_c(device_, "c", dtype_of_storage<R>, c.size());
    device_.write(on_a.data(), a.data(), a.size() * sizeof(S));
    device_.write(on_b.data(), b.data(), b.size() * sizeof(S));
    call.a = on_a.data();
    call.b = on_b.data();
    call.c = on_c.data();
    gemm(stream_, call);
    stream_.synchronize();
    device_.read(on_c.data(), c.data(), c.size() * sizeof(R));
    return c;
  }

  Device& device_;
  Stream stream_;
};

/// Just above half way between two TF32 numbers: nearest goes up, truncation down, fp32 keeps it.
std::string tf32_rounding(Products& products) {
  const float drawn = 1 + 0x1p-11f + 0x1p-20f, came = products.dot({drawn}, {1}, true);
  return came == drawn ? "none" : came == 1 ? "truncate" : "nearest";
}

/// 1 beside small products that only an aligned sum of that many fraction bits keeps until they make 2^-23 together.
int fraction_bits(Products& products) {
  const auto keeps = [&](int bits) {
    std::vector<float> a{1}, b{1};
    for (int i = 0; i < 3; ++i) {
      a.push_back(0x1p-12f);
      b.push_back(std::ldexp(1.0f, i == 0 ? -12 : 12 - bits));
    }
    if (bits == 24) a.pop_back(), b.pop_back();
    return products.dot_of_halves(a, b) > 1;
  };
  if (!keeps(24)) return products.dot_of_halves({1, 0x1p-12f}, {1, 0x1.8p-12f}) > 1 ? 0 : 23;
  return keeps(25) ? 25 : 24;
}

std::vector<float> drawn(std::size_t count, std::uint64_t seed) {
  executor::Schedule random(seed);
  std::vector<float> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(std::ldexp(static_cast<float>(random.below(1u << 24)) - 0x1p23f, -23));
  }
  return all;
}

}  // namespace

GemmTraits probe_gemm(Device& on) {
  Products products(on);
  GemmTraits traits;
  traits.keeps_subnormals = products.dot({0x1p-130f}, {1}) == 0x1p-130f;
  traits.tf32_rounding = tf32_rounding(products);
  traits.sums_to_nearest = products.dot_of_halves({1, 0x1p-12f}, {1, 0x1.8p-12f}) > 1;
  traits.fraction_bits = fraction_bits(products);
  std::vector<float> a(65, 1), b(65, 1);
  a[0] = 2048;
  traits.half_accumulator_stops = products.dot_in_half(a, b) == 2048;
  constexpr std::int64_t size = 96;
  const auto left = drawn(size * size, 1), right = drawn(size * size, 2);
  const auto first = products.square(left, right, size);
  traits.repeats = true;
  for (int i = 1; i < 20; ++i) traits.repeats = traits.repeats && products.square(left, right, size) == first;
  auto scaled = left;
  for (float& each : scaled) each *= 128;
  auto expected = first;
  for (float& each : expected) each *= 128;
  traits.scales = products.square(scaled, right, size) == expected;
  return traits;
}

std::vector<Probe> probes_of(const GemmTraits& traits) {
  const auto either = [](bool yes, const char* if_so, const char* if_not) { return std::string(yes ? if_so : if_not); };
  return {
      {"fp32 operands below 2^-126", either(traits.keeps_subnormals, "kept", "read as zero"),
       either(traits.keeps_subnormals, "no flush term", "a flush term for every product and sum")},
      {"TF32 operands", traits.tf32_rounding == "none" ? "not rounded" : "rounded: " + traits.tf32_rounding,
       either(traits.tf32_rounding == "nearest", "2^-11 an operand", "2^-10 an operand")},
      {"sums of fp16 products", either(traits.sums_to_nearest, "rounded to nearest", "truncated"),
       traits.fraction_bits == 0 ? "one rounding an addition"
                                 : "aligned to " + std::to_string(traits.fraction_bits) + " fraction bits"},
      {"fp16 accumulator", either(traits.half_accumulator_stops, "2048 + 1 + ... stops", "wider inside than fp16"),
       either(traits.half_accumulator_stops, "one rounding to fp16 an addition", "the bound for fp16 holds, loosely")},
      {"the same product 20 times", either(traits.repeats, "the same bits", "OTHER BITS"),
       either(traits.repeats, "bit for bit checks apply", "bit for bit checks do not apply")},
      {"2^7 A B", either(traits.scales, "the bits of A B, scaled", "OTHER BITS"),
       either(traits.scales, "power-of-two loss scales cancel", "power-of-two loss scales may show")},
  };
}

}  // namespace tally
