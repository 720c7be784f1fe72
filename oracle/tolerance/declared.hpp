// What a bound rule is told beside its inputs: what the subject declares of itself, and what is asked of the rule; and
// what the bounds assume. Defined in assumptions.cpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally::oracle {

struct TriedOrder;  // oracle/tolerance/summation.hpp

/// The share of each source that rules take into their bounds: 1 in every verdict, 0 switched off. A rule that runs
/// again with one source switched off leaves a smaller bound, and the difference is that source's term: no rule knows
/// of it, as the shares are read where (v, e) enters and where it rounds. What is left with all of them off is the
/// distance of recipe constants to the floats that hold them.
struct Sources {
  double input = 1;         // what the rule's inputs carry
  double accumulation = 1;  // the arithmetic in the compute format: products, sums, quotients, roots, their underflow
  double storage = 1;       // one more rounding into the storage, accumulate or master format
  double function = 1;      // what exp, log, tanh and erf may be off
};

/// Whether rules also say how far an evaluation that rounds at random usually lies from the exact value: the random part
/// r of a bound, its variance proxy s, and how many elements share their roundings (oracle/spread.md). Only the local
/// lens asks for them; v and e are the same with and without, bit for bit.
enum class Spread {
  none,     // r and s of what a rule leaves are empty, and sharing is 1
  least,    // as if no two addends were alike: s and sharing are at most what `counted` gives, and no one sorts addends
  counted,  // addends that are alike round together (oracle/tolerance/summation.hpp)
};

/// How many exact functions were evaluated in certified arithmetic, and how many of them no precision decided.
struct CertifiedCount {
  std::uint64_t evaluated = 0, undecided = 0;
  void count(bool decided) { ++(decided ? evaluated : undecided); }
};

/// What a walk asks of rules.
struct Asked {
  /// Bounds without exact values, whose v is then the rule's own binary64 magnitude: for the terms of a bound, and to
  /// time the two apart.
  bool bounds_only = false;
  Sources sources = {};
  Spread spread = Spread::counted;
  /// The order in which rules add up for real, which must last; nullptr: none, a rule's value is the formula's.
  const TriedOrder* order = nullptr;
  /// Where set, which must last, the layers' and losses' exact functions are evaluated in balls and counted: in balls
  /// of fixed size (oracle/real/short_ball.hpp) where that is enough, else of any (oracle/real/ball.hpp), with as many
  /// bits as it takes that every element is known to 2^-63 of itself, or to 2^-300 of the tensor's largest. What no
  /// precision decides keeps its long double value.
  CertifiedCount* certified = nullptr;
};

/// What bound rules know of the subject, and what is asked of them.
struct Declared {
  const Claims& claims;
  Format storage, compute, accumulate, master;
  bool tf32 = false;
  Asked asked = {};

  bool bounds_only() const { return asked.bounds_only; }
  bool with_spread() const { return asked.spread != Spread::none; }
  bool counts_alike() const { return asked.spread == Spread::counted; }
  bool certifies() const { return asked.certified != nullptr && !asked.bounds_only; }
  /// A bound as a rule reads it; what is undecided stays so.
  double incoming(double e) const { return asked.sources.input == 1 || e == INFINITY ? e : asked.sources.input * e; }
};

/// The same subject, asked for something else.
inline Declared with(const Declared& declared, const Asked& asked) {
  Declared other = declared;
  other.asked = asked;
  return other;
}

/// What the bounds assume, and what holds for a subject: printed in every report.
std::vector<std::pair<std::string, std::string>> ledger(const Claims& claims, const Precision& precision);

}  // namespace tally::oracle
