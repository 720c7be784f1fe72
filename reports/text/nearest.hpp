// Which of the known names somebody may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// Single characters to insert, delete or replace to turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The `count` names nearest to `word`, the nearest first; of equal ones the first in order of the alphabet. Names that
/// begin with the word, or hold it, come before all others.
std::vector<std::string> nearest_names(std::string_view word, std::vector<std::string> names, std::size_t count);

/// Those of the nearest that are near: they hold the word, or share more than half of the longer one's characters with
/// it.
std::vector<std::string> near_names(std::string_view word, std::vector<std::string> names, std::size_t count);

}  // namespace tally
