// What a reader says of a case that it refuses.
#pragma once

#include <string>

#include "oracle/case/io.hpp"

namespace tally {

/// The first finding, "path: found; expected"; nothing where it reads the case.
inline std::string refusal(const std::string& json) {
  try {
    read_case(json, ".");
  } catch (const InvalidCase& reason) {
    const CaseError& first = reason.errors().front();
    return first.path + ": " + first.found + "; " + first.expected;
  }
  return "";
}

}  // namespace tally
