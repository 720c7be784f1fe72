#pragma once

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// A subject in fp32 that claims nothing, asked for all that a verdict takes.
inline const Declared& undeclared() {
  static const Claims none;
  static const Declared in_fp32 = declared(Precision{}, none);
  return in_fp32;
}

/// The same, asked for something else.
inline Declared undeclared(const Asked& asked) { return with(undeclared(), asked); }

}  // namespace tally::oracle
