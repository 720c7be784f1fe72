// Every storage format of the table has a type in kernels, which converts as the oracle does.
#include <gtest/gtest.h>

#include <bit>

#include "kernels/device/half.hpp"
#include "kernels/elementwise.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally::storage_types_test {
namespace {

TEST(StorageTypes, AreThereForEveryStorageFormat) {
  ASSERT_FALSE(storage_formats().empty());
  for (const Dtype format : storage_formats()) {
    with_type_of(format, [&]<class S>(S) {
      EXPECT_EQ(dtype_of_storage<S>(), format);
      EXPECT_EQ(sizeof(S), size_of(format));
    });
  }
}

TEST(StorageTypes, ReadEveryEncodingAsTheOracleDoes) {
  std::size_t read = 0;
  for (const Dtype format : storage_formats()) {
    if (size_of(format) != 2) continue;
    with_type_of(format, [&]<class S>(S) {
      if constexpr (sizeof(S) == 2) {
        for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
          const float found = to_float(std::bit_cast<S>(static_cast<std::uint16_t>(bits)));
          const double expected = float_value_of(format, bits);
          ASSERT_TRUE(static_cast<double>(found) == expected || (found != found && expected != expected))
              << name_of(format) << " " << bits;
        }
        ++read;
      }
    });
  }
  EXPECT_GT(read, 0u);
}

TEST(StorageTypes, StoreAsTheOracleDoes) {
  ASSERT_FALSE(storage_formats().empty());
  for (const Dtype format : storage_formats()) {
    for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 1009) {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (value != value) continue;
      const double expected = float_value_of(format, float_bits_of(format, static_cast<double>(value)));
      ASSERT_EQ(std::bit_cast<std::uint64_t>(static_cast<double>(stored_in(format, value))),
                std::bit_cast<std::uint64_t>(expected))
          << name_of(format) << " " << bits;
    }
  }
}

#ifdef __FLT16_MANT_DIG__

TEST(StorageTypes, ConvertHalvesAsTheCompilerDoes) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 251) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (value != value) continue;
    const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(std::bit_cast<std::uint16_t>(from_float<half>(value)), expected) << bits;
  }
}

#endif

/// What a call throws.
template <class Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing";
}

TEST(StorageTypes, ThatAreMissingAreAnErrorThatNamesTheFormatAndTheCaller) {
  const auto nothing = [](auto) {};
  for (const std::string& text :
       {thrown_by([&] { with_type_of(Dtype::i64, nothing); }), thrown_by([&] { by_storage(Dtype::i64, nothing); }),
        thrown_by([&] { by_storages(Dtype::fp32, Dtype::i64, [](auto, auto) {}); })}) {
    EXPECT_NE(text.find("storage_types_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find(": no kernel for i64"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tally::storage_types_test
