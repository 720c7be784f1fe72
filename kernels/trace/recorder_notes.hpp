// What a recorder says beside its taps, in a trace's optional metadata: what it took for granted, where calls stand,
// and what it left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// What a recorder says beside its taps: a trace's optional metadata entries `assumptions`, what it took for granted where
// the run did not say, and `seen`, the causes that it saw at work.

inline constexpr std::size_t most_assumptions = 100;

/// One a line, in their order, empty lines left out; long ones shortened. Behind the first hundred stands how many more
/// there are. Throws std::runtime_error where the file is no safetensors file.
std::vector<std::string> assumptions_of(const std::filesystem::path& trace_file);

/// The same of `seen`: names of causes, as `tally explain` knows them.
std::vector<std::string> seen_causes_of(const std::filesystem::path& trace_file);

// Where in the user's program the calls stand that a recorder saw: a trace's optional metadata entry `places`.

struct CodePlace {
  std::string file;
  std::int64_t line = 0;
  std::string text;  // of the line; may be empty
};

/// By the kind of call: "loss", "backward", "unscale", "clip", "step"; others are passed over. Empty where there is no
/// such entry. Throws std::runtime_error with the place, what was found and what was expected.
std::map<std::string, CodePlace> places_of(const std::filesystem::path& trace_file);

// What a recorder of samples says of the elements that it left out: the optional metadata entry `sums_of_squares`.

/// The squares of a window: how many elements all parameters have, and the sum of the squares of all of them in the
/// gradient buffers behind the last micro-batch, taken in binary64. Not finite where an element is not.
struct SquaresOfWindow {
  int window = 0;
  double elements = 0, sum = 0;
};

/// One line a window, `w<window> <elements> <sum>`, and every window once. Throws std::runtime_error with the line,
/// what was found and what was expected, and where the case is none that such sums are for: an opaque model, an
/// optimizer that goes element by element, and of clips by norm that by the 2-norm.
std::vector<SquaresOfWindow> sums_of_squares_of(const std::filesystem::path& trace_file, const Case& c);

}  // namespace tally
