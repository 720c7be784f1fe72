// Text for people: numbers, columns, safe UTF-8, the nearest of known names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// Numbers as people read them; the same on every machine and in every locale.

std::string grouped(std::uint64_t value);              // 5,184
std::string counted(std::uint64_t n, const char* of);  // "1 case", "5,184 cases"
/// Three digits: 0.413, 1.23e-07, inf, nan. What is not 1 never reads as 1, the limit of every ratio: more digits are
/// shown, up to 0.999999 and 1.000001 for all that is nearer.
std::string significant(double value);
/// The power of ten of a decimal logarithm: "1e-3.9", and "< 1e-1000" for all below.
std::string power_of_ten(double log10);
std::string shortest(double value);          // reads back to the same bits
std::string hexadecimal_text(double value);  // 0x1.8p-3
std::string percent(double share);           // 0.9712 -> 97.12 %
std::string coordinate(double value);        // one decimal, for drawings

// A table for a terminal: columns padded to their widest cell, numbers to the right.

/// The first row is the header. A title that starts with '>' sets its column flush right. Cells are made safe for a
/// terminal and cut at `widest` code points.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t widest = 60);

// Text from anywhere, made safe to show: valid UTF-8, nothing invisible.

/// Takes one code point off the front of a non-empty text; U+FFFD for one byte that starts no valid sequence.
char32_t take_code_point(std::string_view& text);
void append_utf8(std::string& out, char32_t code);
std::size_t code_points_in(std::string_view text);

/// Control characters as their pictures (except tab and newline), marks that reorder a line as U+xxxx in angle
/// brackets, bytes that are no UTF-8 and code points that XML forbids as U+FFFD.
std::string visible(std::string_view text);

/// visible(), on one line: tabs and newlines become spaces.
std::string one_line(std::string_view text);

// Which of the known names somebody may have meant.

/// Single characters to insert, delete or replace to turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The `count` names nearest to `word`, the nearest first; of equal ones the first in order of the alphabet. Names that
/// begin with the word, or hold it, come before all others.
std::vector<std::string> nearest_names(std::string_view word, std::vector<std::string> names, std::size_t count);

/// Those of the nearest that are near: they hold the word, or share more than half of the longer one's characters with
/// it.
std::vector<std::string> near_names(std::string_view word, std::vector<std::string> names, std::size_t count);

}  // namespace tally
