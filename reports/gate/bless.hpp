// Changes a baseline: accepts a run's numbers, with a reason; takes out what is gone; takes over what became better;
// and what the gate would let be blessed. Defined in bless.cpp, pending.cpp.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "reports/gate/baseline.hpp"
#include "reports/record/files.hpp"

namespace tally {

/// What is wrong with a reason: empty, or no more than that something was updated; else empty.
std::string complaint_about(const std::string& reason);

struct BlessOptions {
  std::string reason;     // must say something
  std::string commit;     // that the run was made from; may be empty
  std::string law = "*";  // shell patterns of what is blessed
  std::string precision = "*";
  std::vector<std::string> cases;  // ids; empty: all
  bool allow_ci = false;           // else refused where the environment variable CI is set
};

struct BlessReport {
  std::uint64_t added = 0, changed = 0, removed = 0, unchanged = 0;
};

/// "3 added, 1 changed, 0 removed, 40 unchanged".
std::string text_of(const BlessReport& report);

/// Replaces this machine's entries that match (and only where everything does its faults) and leaves all others as they
/// are; what matches and is gone from the results is removed; what did not change keeps its blessing. Makes the file if
/// there is none. Throws std::runtime_error, with the file untouched, for an empty reason or one that says no more than
/// that something was updated, in continuous integration, for a partial run, a matching failure, a ratio above 1 or a
/// lost fault, for an id that the results do not have, and if nothing matches; NotWritten where it cannot be written.
BlessReport bless(const Results& results, const std::string& file, const BlessOptions& options);

/// Takes out this machine's entries of the same draw that the results do not have any more. Throws as bless() does, but
/// wants no reason.
BlessReport prune(const Results& results, const std::string& file, const BlessOptions& options);

/// Blesses what became better alone: cases whose worst r fell while no operation's drift grew.
BlessReport tighten(const Results& results, const std::string& file, const BlessOptions& options);

// What the gate would let be blessed, kept beside the results: bless takes it without them.

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
