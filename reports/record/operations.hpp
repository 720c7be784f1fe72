// A judged recording of a program's operations: what each result came to, where operations stand, and what came out by
// kind, module and phase.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tally {

/// What the recording says of itself.
struct RecordingHeader {
  std::string framework, profile;  // "1.13.0", "pytorch-cpu-1.13"
  std::vector<std::string> devices;
  std::int64_t threads = 0;              // of PyTorch's own; 0: not said
  double share = 1;                      // of the operations that were drawn
  std::map<std::string, double> claims;  // of the profile, by "operation/format/claim"
};

/// An element of a result, beside what it is held to.
struct JudgedElement {
  std::vector<std::int64_t> place;
  double found = 0, expected = 0, allowed = 0;
  double r = 0;  // |found - expected| / allowed
};

/// How one result of an operation stands.
struct JudgedResult {
  std::string name;
  std::string format;  // "float32"
  std::vector<std::int64_t> sizes;
  std::int64_t elements = 0, wrong = 0, undecided = 0;
  std::int64_t measured = 0;  // elements whose r is known: with a bound of their own
  double worst = 0;           // the largest r = |found - v| / e of them
  bool vacuous = false;       // the bounds add up to at least as much as the values
  double spread = 0;          // the root mean square of errors by their deviations, where at least 16 are known
  bool imprecise = false;     // inside of every bound, with errors larger than independent roundings leave
  std::vector<JudgedElement> elements_worst;  // the largest r first, most_elements at most; wrong ones before all
  std::int64_t block = -1, at = 0;            // where the first of them lies: element `at` of a block of the recording

  static constexpr std::size_t most_elements = 8;

  static constexpr double most_spread = 2;  // times what independent roundings leave

  bool fails() const { return wrong > 0 || imprecise; }
  /// With errors that all together are too large, wrong elements aside.
  bool is_less_precise() const { return spread > most_spread; }
};

struct JudgedCall {
  enum Status { held, nothing_to_hold, not_judged };
  Status status = held;
  std::string why;  // it is not judged
  std::vector<JudgedResult> results;
  bool made_non_finite = false;  // of finite inputs

  bool fails() const {
    return std::any_of(results.begin(), results.end(), [](const JudgedResult& each) { return each.fails(); });
  }
  double worst() const {
    double most = 0;
    for (const JudgedResult& each : results) most = std::max(most, each.worst);
    return most;
  }
};

/// Where an operation stands in its program.
struct OperationPlace {
  std::int64_t number = 0, step = 0;
  std::string operation, where, module, phase;
};

/// What came out of operations that have something in common.
struct OperationCounts {
  std::int64_t operations = 0, held = 0, nothing = 0, not_judged = 0, failed = 0;
  std::int64_t elements = 0, undecided = 0, vacuous = 0;
  double worst = 0;
  OperationPlace at;  // of the worst
};

/// Where a block of the recording begins in bits.bin, in bytes.
using BlockPlaces = std::map<std::int64_t, std::uint64_t>;

/// One operation with what it takes to run it again.
struct JudgedOperation {
  OperationPlace place;
  JudgedCall judged;
  std::string line;    // of operations.jsonl
  BlockPlaces blocks;  // that the line names
};

/// Operations that are not judged for the same reason.
struct NotJudgedOperations {
  std::int64_t operations = 0;
  OperationPlace first;
};

struct JudgedRecording {
  RecordingHeader header;
  std::string profile;                   // that it was held to
  std::map<std::string, double> claims;  // of that profile
  OperationCounts all;
  std::map<std::string, OperationCounts> by_operation, by_module, by_phase;
  std::vector<JudgedOperation> failures;  // the first in the program's order, most_failures at most
  std::map<std::string, NotJudgedOperations> not_judged;
  std::optional<OperationPlace> first_non_finite;  // made of finite inputs
  std::vector<std::string> unseen;
  bool ended = false;
  std::int64_t seen = 0;

  static constexpr std::size_t most_failures = 50;
};

}  // namespace tally
