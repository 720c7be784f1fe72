// What is compared of a case: a line of a baseline, or one made from results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

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

}  // namespace tally
