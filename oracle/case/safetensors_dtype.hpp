// The words safetensors uses for our formats.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "oracle/case/tensor.hpp"

namespace tally {

inline constexpr std::array<std::pair<std::string_view, Dtype>, 5> safetensors_dtypes{
    {{"F32", Dtype::fp32}, {"F16", Dtype::fp16}, {"BF16", Dtype::bf16}, {"I64", Dtype::i64}, {"U8", Dtype::u8}}};

inline std::string_view safetensors_name(Dtype dtype) {
  for (const auto& [name, known] : safetensors_dtypes)
    if (known == dtype) return name;
  throw std::logic_error("no such dtype");
}

}  // namespace tally
