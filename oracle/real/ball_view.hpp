// Arb's view of a Ball. For the sources beside this file and oracle/fixed_point/enclosures.cpp alone.
// Defined in product.cpp.
#pragma once

#include <arb.h>

#include <string>

#include "oracle/real/ball.hpp"

namespace tally::oracle {

inline arb_ptr view(Ball& x) { return static_cast<arb_ptr>(x.storage()); }
inline arb_srcptr view(const Ball& x) { return static_cast<arb_srcptr>(x.storage()); }

/// A finite number; the others are points: an infinity or NaN.
inline bool finite(const Ball& x) { return arf_is_finite(arb_midref(view(x))) != 0; }
inline bool is_point(const Ball& x) { return mag_is_zero(arb_radref(view(x))) != 0; }
inline bool known_not_negative(const Ball& x) { return x.non_negative() || arb_is_nonnegative(view(x)); }
inline slong precision() { return static_cast<slong>(ball_bits()); }

/// NaN, an infinity, or of a finite number its sign alone: -1, 0, 1. Undecided where the sign is.
double sign_or_special(const Ball& x);

/// The result of finite operands as it is, if it is bounded at all.
inline Ball bounded(Ball result, bool non_negative, const char* what) {
  if (!arb_is_finite(view(result))) throw Undecided(std::string(what) + ": no bound");
  result.set_non_negative(non_negative);
  return result;
}

}  // namespace tally::oracle
