// A case whose tensors travel beside its text.
// Defined in read_case.cpp, write_case.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "oracle/case/case.hpp"

namespace tally {

/// The case on one line, every default written out, `tensors` an empty object.
std::string write_case_beside_tensors(const Case& c);
/// The case of that text with these tensors, which are taken as they are. Throws InvalidCase for another text.
Case read_case_beside_tensors(std::string_view json, std::map<std::string, Tensor> tensors);

}  // namespace tally
