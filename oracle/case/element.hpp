// One element of an inline tensor, from text to bits and back, exactly.
// Defined in element.cpp, hexadecimal.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oracle/case/json.hpp"
#include "oracle/case/tensor.hpp"

namespace tally {

/// The bits of a JSON number, or of a string holding a C99 hexadecimal float; nullopt where the dtype does not hold the
/// value exactly.
std::optional<std::uint64_t> exact_bits(Dtype dtype, const Json& element);

/// Element i in its canonical form: a hexadecimal float as a string, integers as numbers.
Json canonical_element(const Tensor& tensor, std::size_t i);
/// The same as text of JSON.
void append_canonical(std::string& text, const Tensor& tensor, std::size_t i);

/// The value of a C99 hexadecimal float such as "-0x1.8p-3"; nullopt for other text and for values that no binary64
/// holds exactly.
std::optional<double> hexadecimal_value(std::string_view text);

/// "0x1.8p+0"; "inf", "-inf" or "nan" where the value is not finite.
std::string hexadecimal(double value);

}  // namespace tally
