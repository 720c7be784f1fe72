// What is compared of a case, entries of two runs in pairs, and whether the errors of paired cases have become larger.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

// What is compared of a case: a line of a baseline, or one made from results.

struct CaseEntry {
  std::string law, precision, id, tag;  // tag_of() the case; of no digest
  Status status = Status::pass;
  double worst_ratio = 0;     // the larger of the case's two
  double rounding_drift = 0;  // ||subject - exact|| / ||exact|| of the first window's gradient
  std::string digest;         // of verdict, ratios, drift, and of every operation's bits and drift
  std::vector<OperationRecord> operations;

  bool same_place(const CaseEntry& other) const;
  /// Whether every kernel that took part claims the same bits every time.
  bool repeats() const;
};

/// Equal digests; or equal verdict, ratio and drift to the bit where one side is of an older file that knows no
/// operations.
bool same_content(const CaseEntry& a, const CaseEntry& b);

/// By law, precision and id: the order of a baseline's lines.
bool stands_before(const CaseEntry& a, const CaseEntry& b);

/// What `digest` must be: 16 hexadecimal digits.
std::string digest_of(const CaseEntry& entry);

CaseEntry entry_of(const CaseRecord& c);
/// Sorted; a case that was judged twice stands once.
std::vector<CaseEntry> entries_of(const Results& results);

// Walks two sorted lists of entries together.

/// Calls pair(a, b) for what stands in both, before_only(a) and now_only(b) for the rest, in order.
template <class Pair, class BeforeOnly, class NowOnly>
void for_each_pair(const std::vector<CaseEntry>& before, const std::vector<CaseEntry>& now, Pair pair,
                   BeforeOnly before_only, NowOnly now_only) {
  auto a = before.begin();
  auto b = now.begin();
  while (a != before.end() || b != now.end()) {
    if (b == now.end() || (a != before.end() && stands_before(*a, *b))) {
      before_only(*a++);
    } else if (a == before.end() || stands_before(*b, *a)) {
      now_only(*b++);
    } else {
      pair(*a++, *b++);
    }
  }
}

// Whether the errors of paired cases have become larger: a verdict that can be "undecided".

/// A median loss up to this is none; and drifts below the floor, in units of the bound, are the same as none.
inline constexpr double tolerated_loss = 1.1, drift_floor = 1e-6;
/// The chance of a false verdict "worse" or "better" in a whole comparison; limits of a median hold with one less this
/// chance.
inline constexpr double false_verdict_chance = 0.05;

enum class AccuracyVerdict { same, better, worse, undecided };
std::string_view word_of(AccuracyVerdict verdict);

struct Accuracy {
  AccuracyVerdict verdict = AccuracyVerdict::undecided;
  std::uint64_t cases = 0;                     // with finite drifts, of which one is above the floor at least
  double factor = 1, low = 1, high = 1;        // median of now / before and its limits; 1 where there is no case
  std::uint64_t appeared = 0, vanished = 0;    // errors where there were none, or infinite ones; and the reverse
  std::uint64_t beyond = 0;                    // errors beyond their bound now and not before
  double largest = 0;                          // of those, in units of the bound
  double chance_worse = 1, chance_better = 1;  // of the like from equal accuracy, corrected for all strata
  bool identical = true;                       // every drift has the same bits
};

/// "165 times its bound in 1 case".
std::string beyond_words(const Accuracy& accuracy);
/// "1.31x [1.22, 1.40] worse".
std::string text_of(const Accuracy& accuracy);

/// Drifts of the same cases before and now.
struct PairedDrifts {
  std::vector<double> before, now;
};

/// One verdict for each stratum, corrected for their number together (Holm):
///   worse      an error beyond its bound that was inside; or the signed-rank test, and the median's lower limit above
///              the tolerated loss; or the sign test of errors that appeared
///   better     the mirror of it
///   same       identical, or both limits within the tolerated loss and enough cases to have shown otherwise
///   undecided  else
std::vector<Accuracy> accuracies_of(const std::vector<PairedDrifts>& strata);

}  // namespace tally
