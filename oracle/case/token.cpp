#include "oracle/case/base32.hpp"
#include "oracle/case/compression.hpp"
#include "oracle/case/limits.hpp"
#include "oracle/case/packed_case.hpp"

namespace tally {
namespace {

constexpr std::string_view prefix = "tly1:";

[[noreturn]] void refuse_token(const std::string& found, const std::string& expected) {
  throw InvalidCase({{"token", found, expected}});
}

/// `$.model` of the case inside becomes `token.model`.
std::vector<CaseError> inside_token(std::vector<CaseError> errors) {
  for (CaseError& error : errors)
    if (error.path.starts_with("$")) error.path.replace(0, 1, "token");
  return errors;
}

}  // namespace

std::string token_of(const Case& c) {
  return std::string(prefix) + to_base32(compress(to_text(json_of(c, true), JsonLayout::compact)));
}

bool is_token(std::string_view text) {
  if (!text.starts_with("tly")) return false;
  const auto after = text.find_first_not_of("0123456789", 3);
  return after != std::string_view::npos && after > 3 && text[after] == ':';
}

Case case_of_token(std::string_view token) {
  if (!token.starts_with(prefix)) refuse_token(json_string(token.substr(0, 20)), "a token beginning with \"tly1:\"");
  const auto stream = from_base32(token.substr(prefix.size()));
  if (!stream)
    refuse_token(std::to_string(token.size()) + " characters", "letters a-z and digits 2-7, all of the token");
  const auto text = decompress(*stream, most_text);
  if (!text)
    refuse_token("a damaged token, or one of more than " + std::to_string(most_text) + " bytes",
                 "all of the token, unchanged");
  try {
    return unpack_case(*text, {{}, true});
  } catch (const InvalidCase& invalid) {
    throw InvalidCase(inside_token(invalid.errors()));
  }
}

}  // namespace tally
