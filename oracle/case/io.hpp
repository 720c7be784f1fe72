// Reading, writing, checking, hashing and packing a case, also one whose tensors travel beside its text; and its title.
// Defined in oracle/case/tensors/drawing.cpp, oracle/case/file/read_case.cpp, oracle/case/file/schema.cpp,
// oracle/case/file/token.cpp, oracle/case/file/write_case.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// One thing wrong with a case: where (JSON path such as `$.model.layers[1].eps`), what was found, what is allowed.
struct CaseError {
  std::string path, found, expected;
};

/// All errors of one case at once; what() has a line for each.
class InvalidCase : public std::runtime_error {
 public:
  explicit InvalidCase(std::vector<CaseError> errors);
  const std::vector<CaseError>& errors() const { return errors_; }

 private:
  std::vector<CaseError> errors_;
};

/// Reads JSON text. `folder` is where a tensor file named by the case must lie. Throws InvalidCase.
Case read_case(std::string_view json, const std::filesystem::path& folder = {});
/// Reads a file; a missing or unreadable file is an InvalidCase with path "$".
Case read_case_file(const std::filesystem::path& file);

/// Everything oracle/case.md calls an error in a case that was built in memory; empty when it is valid.
std::vector<CaseError> validate(const Case& c);

/// Canonical JSON: sorted keys, defaults written out, hexadecimal floats, inline tensors, one final newline.
std::string write_case(const Case& c);
/// 64 lower-case hex digits: SHA-256 of the canonical text.
std::string hash_of(const Case& c);

/// `tly1:` + base32 of the compressed case; tensors with a drawing travel as the drawing.
std::string token_of(const Case& c);
/// Whether it begins as a token does, of this version or another: `tly`, digits, a colon.
bool is_token(std::string_view text);
/// Throws InvalidCase with path "token".
Case case_of_token(std::string_view token);

/// The JSON Schema (draft 2020-12) of the case, generated from the option tables of layers, losses and recipe.
std::string json_schema();

/// Redraws a tensor's bytes from its drawing, for its dtype and shape. Throws std::invalid_argument for an unknown
/// number or family.
void draw(Tensor& tensor, const Drawing& drawing);

/// SHA-256 of any text, as 64 lower-case hex digits.
std::string sha256(std::string_view text);

/// The case on one line, every default written out, `tensors` an empty object.
std::string write_case_beside_tensors(const Case& c);
/// The case of that text with these tensors, which are taken as they are. Throws InvalidCase for another text.
Case read_case_beside_tensors(std::string_view json, std::map<std::string, Tensor> tensors);

// A case in one line, for people.

/// "fp16, linear 8-16-3, batch_norm, K = 3, 2 windows, sgd".
std::string title_of(const Case& c);
/// The storage format, and what differs from it as it usually is: "fp16, buffer bf16, master fp16".
std::string formats_of(const Precision& precision);

}  // namespace tally
