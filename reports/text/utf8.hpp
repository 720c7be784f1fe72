// Text from anywhere, made safe to show: valid UTF-8, nothing invisible.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Takes one code point off the front of a non-empty text; U+FFFD for one byte that starts no valid sequence.
char32_t take_code_point(std::string_view& text);
void append_utf8(std::string& out, char32_t code);
std::size_t code_points_in(std::string_view text);

/// Control characters as their pictures (except tab and newline), marks that reorder a line as U+xxxx in angle
/// brackets, bytes that are no UTF-8 and code points that XML forbids as U+FFFD.
std::string visible(std::string_view text);

/// visible(), on one line: tabs and newlines become spaces.
std::string one_line(std::string_view text);

}  // namespace tally
