// Recipe constants as a subject holds them: the exact number, and how far its fp32 representative may be away.
#pragma once

#include "oracle/case/case.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// A constant rounded once to fp32 after a derivation in binary64 that is off by at most `margin`. The bound is the
/// distance of the nearest fp32 itself, not u |c|, at either end of the margin: 0 for a constant that fp32 holds, where
/// the margin reaches no other. After a cancellation the long double value may be a float by chance, and the margin
/// wide.
Bounded constant(long double exact, long double margin);
/// The same with a margin of 2^-49 |exact|: a few roundings, none after a cancellation.
Bounded constant(long double exact);

/// A number written in the case, read as the nearest binary64 and rounded to fp32.
Bounded constant(const Decimal& written);

/// A derived constant under the subject's claim: `constants: binary64` rounds once; `fp32` computes it from rounded
/// constants, whose (v, e) the caller gives.
Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32, long double margin);
Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32);

/// 1 / n for a count that fp32 holds.
Bounded reciprocal(const Declared& declared, double n);

/// 1 - beta^times, and how far a binary64 one may be from it, relatively: beta's own rounding `times` over, the power's
/// and the difference's. At 1 and beyond it may be 0.
struct Complement {
  long double value, relative;
};
Complement complement_of_power(const Decimal& beta, long double times);

/// How far 1 / x may be off, relatively, where x is off by `relative`: infinite where x may be 0.
long double of_inverse(long double relative);

/// 1 - c: the binary64 nearest to c may be off by 2^-53 where it is not c, and the difference rounds once more.
Bounded one_minus(const Declared& declared, const Decimal& c);

}  // namespace tally::oracle
