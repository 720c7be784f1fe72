// What the gate would let be blessed, kept beside the results: bless takes it without them.
#pragma once

#include <string>

#include "reports/gate/bless.hpp"

namespace tally {

/// A baseline's document of what is new or changed against `kept` alone, under one blessing of that commit and without
/// a reason yet. Holds no cases and no faults where nothing is to be blessed, or where nothing may be: the run did not
/// pass, or is incomplete. Names the cases that others stand for.
Baseline pending_of(const Results& results, const Baseline& kept, const std::string& commit);

/// What `kept` holds of the same machine and draw in the places of what is pending: its old values. Sorted.
std::vector<CaseEntry> before_pending(const Baseline& pending, const Baseline& kept);

/// Whether it is one: a single blessing that has no reason yet. A baseline has its reasons.
bool is_left_by_gate(const Baseline& document);

/// Whether the file holds one or a baseline, by its first key. False where it cannot be read.
bool is_pending(const std::string& file);

/// Replaces or adds the entries that match in the baseline `file`, and takes out those that other ones stand for now;
/// what is gone without another in its place is prune()'s. Throws as bless() does, and for a document that has a reason
/// already or not exactly one blessing.
BlessReport bless_pending(const Baseline& pending, const std::string& file, const BlessOptions& options);

}  // namespace tally
