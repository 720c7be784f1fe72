// JSON as text, one way only: sorted keys, shortest numbers that read back to the same bits, one record a line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tally {

/// A number as JSON can hold it: "inf", "-inf" and "nan" (payload and sign dropped) as strings.
nlohmann::json json_of_number(double value);

/// Keys of the top object and elements of its arrays stand on lines of their own; one final newline. Bytes that are
/// no UTF-8 are written as U+FFFD.
std::string canonical_text(const nlohmann::json& value);

/// Throws std::runtime_error with line, column and what was expected; a key twice in one object is an error.
nlohmann::json parse_json(std::string_view text);

/// A value as a message shows it: short, never a whole list.
std::string shown(const nlohmann::json& value);

}  // namespace tally
