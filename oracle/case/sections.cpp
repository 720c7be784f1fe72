#include "oracle/case/sections.hpp"

#include <algorithm>

namespace tally {

std::vector<std::string> words_of(const PrecisionKey& key) {
  std::vector<std::string> words;
  for (const Dtype dtype : key.allowed) {
    const std::string word(name_of(dtype));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

}  // namespace tally
