// JSON text whose numbers are replaced by their ordinal. A JSON parser converts numbers and so loses 1e399, -0 and the
// digits that a binary64 does not hold; it can only hand over an ordinal unharmed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

struct NumberedText {
  std::string text;                                     // the n-th number is written n
  std::vector<std::string_view> numbers;                // as they were written, not yet checked for their grammar
  std::vector<std::pair<std::size_t, std::size_t>> at;  // where each number ends: in `text`, in the original

  std::size_t original_position(std::size_t position) const;
};

/// The numbers are views of the text. It ends behind `most_numbers` of them.
NumberedText number_the_numbers(std::string_view json, std::size_t most_numbers);

}  // namespace tally
