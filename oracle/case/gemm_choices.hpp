// What `execution.kernels` may ask of the library that multiplies matrices, beside its kernel ("gemm"): the words of
// "gemm.math" and the others (oracle/case.md).
// Defined in rule_gemm_choices.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally {

struct GemmChoiceKey {
  std::string_view name;
  std::array<std::string_view, 3> words = {};  // empty: a whole number from `least` on, at most 2^31 - 1
  std::int64_t least = 0;
};

inline constexpr std::array<GemmChoiceKey, 5> gemm_choice_keys{{{"gemm.math", {"default", "pedantic", "tf32"}},
                                                                {"gemm.reduction", {"accumulator", "result"}},
                                                                {"gemm.split_k", {}, 1},
                                                                {"gemm.workspace", {}, 0},
                                                                {"gemm.algorithm", {}, 0}}};

/// The number that such a choice writes in decimal digits, without a leading zero; nullopt for anything else.
std::optional<std::int64_t> gemm_choice_number(std::string_view digits);

}  // namespace tally
