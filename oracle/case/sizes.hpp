// Where the code that runs depends on a case: by its sizes, and by what its `execution.kernels` asks for. Defined in
// sizes.cpp, oracle/case/rules/execution.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

// Sizes of a case that code depends on. A size is declared once: its name, its least value, and how it is read from a
// case. An edge is a value at which some code changes, declared beside that code, by the constant itself:
//
//   const Register<SizeEdges> registered_edges{{"keys of a sequence", {block_of_keys}, "a block of keys"}};
//
// Generators draw sizes, and a campaign must reach them, below, at and above every edge.

struct DeclaredSize {
  std::string name;                                              // "pairs of a head that turn"
  std::int64_t least = 0;                                        // of every legal case that has it
  std::int64_t most = std::numeric_limits<std::int64_t>::max();  // the same
  /// Every value that it has somewhere in the case, in any order; none where the case has no such thing.
  std::vector<std::int64_t> (*in)(const Case& c) = nullptr;
  std::string declared_at = {};  // "oracle/layers/rotary.cpp:12"
};

struct SizeEdges {
  std::string size;  // the name of a declared one
  std::vector<std::int64_t> values;
  std::string what;  // that changes there: "a block of keys"
  /// A key of execution.ranks (rank_keys.hpp), with each word of which the values are met; empty: none.
  std::string beside = {};
};

/// One of its values.
struct SizeEdge {
  std::string size;
  std::int64_t value;
  std::string what, beside, declared_at;
};

void enter_record(DeclaredSize size, std::source_location at);
void enter_record(const SizeEdges& edges, std::source_location at);

/// By name; of two with one name, both.
std::vector<DeclaredSize> declared_sizes();
/// By name, then by value.
std::vector<SizeEdge> size_edges();
/// Throws std::logic_error for a name that nobody declares.
const DeclaredSize& declared_size(std::string_view name);

/// The values to draw and to reach, sorted: none, one, two and three of it, as loops need, and below, at and above every
/// edge.
std::vector<std::int64_t> values_around_edges(std::string_view size);

/// What contradicts: a size declared twice, an edge of one that nobody declares, or one that no legal value reaches.
/// Each names the places.
std::vector<std::string> contradictions(const std::vector<DeclaredSize>& sizes, const std::vector<SizeEdge>& edges);

// What `execution.kernels` may ask of the library that multiplies matrices, beside its kernel ("gemm"): the words of
// "gemm.math" and the others (oracle/case.md).

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

// What `execution.kernels` may ask of every grid, beside the kernels themselves (oracle/case.md).

/// The most blocks of a grid whose kernel strides over it, as a whole number in decimal digits.
inline constexpr std::string_view most_blocks_key = "grid.most_blocks";

/// 0 where the case does not say.
std::int64_t most_blocks_of(const Case& c);

}  // namespace tally
