// Whether a text is JSON that may be read whole.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// What is wrong with the form of a JSON text, in one line: no JSON, a key that stands twice, nested too deep, too many
/// values. Empty for a sound one.
std::string wrong_with_json(std::string_view text);
/// The text, or where it is long its beginning and "...".
std::string shortened(std::string_view text, std::size_t longest = 200);
/// A foreign name for a message: shortened, with a picture for each NUL, at which the text of an exception would end.
std::string named(std::string_view text);

}  // namespace tally
