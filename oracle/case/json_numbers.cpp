#include "oracle/case/json_numbers.hpp"

#include <algorithm>

namespace tally {
namespace {

/// Where the string that opens at `begin` ends: one past its closing quote, or the end of the text.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  for (std::size_t i = begin + 1; i < json.size(); ++i) {
    if (json[i] == '\\')
      ++i;
    else if (json[i] == '"')
      return i + 1;
  }
  return json.size();
}

bool begins_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }

}  // namespace

std::size_t NumberedText::original_position(std::size_t position) const {
  const auto after =
      std::upper_bound(at.begin(), at.end(), position, [](std::size_t p, const auto& end) { return p < end.first; });
  if (after == at.begin()) return position;
  return std::prev(after)->second + (position - std::prev(after)->first);
}

NumberedText number_the_numbers(std::string_view json, std::size_t most_numbers) {
  NumberedText numbered;
  numbered.text.reserve(json.size());
  for (std::size_t i = 0; i < json.size() && numbered.numbers.size() < most_numbers;) {
    const std::size_t begin = i;
    if (json[i] == '"') {
      i = end_of_string(json, i);
      numbered.text.append(json.substr(begin, i - begin));
    } else if (begins_number(json[i])) {
      i = std::min(json.find_first_not_of("+-.0123456789eE", i), json.size());
      numbered.text += std::to_string(numbered.numbers.size());
      numbered.numbers.emplace_back(json.substr(begin, i - begin));
      numbered.at.emplace_back(numbered.text.size(), i);
    } else {
      numbered.text += json[i++];
    }
  }
  return numbered;
}

}  // namespace tally
