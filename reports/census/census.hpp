// What a run comes to: counts, groups of cases by law and precision, and the order from worst to best. Every rendering
// and the gate take their numbers from here, so that they agree.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

// The storage formats as results name them.

/// Those of oracle/case/tensors/tensor.hpp, in its order; a test holds the two together, as reports include nothing of
/// there.
inline constexpr std::array storage_precisions{"fp32", "fp16", "bf16"};

/// The larger of a case's two ratios; NaN if either is.
double ratio_of(const CaseRecord& c);
/// NaN above infinity above every number.
bool ratio_is_worse(double a, double b);
/// Failures first, then errors, then by ratio, then by id; a strict order.
bool is_worse(const CaseRecord& a, const CaseRecord& b);
/// Whether a subject ran and was judged.
bool was_judged(Status status);

struct CaseGroup {
  std::string law, precision;
  std::array<std::uint64_t, 5> cases{};  // by Status
  std::uint64_t total = 0, checks = 0, vacuous_checks = 0;
  double worst_ratio = 0;
  const CaseRecord* worst = nullptr;  // of the judged ones; nullptr where none was
  Status status() const;              // fail over error over pass over vacuous over not_run
};

struct Census {
  std::array<std::uint64_t, 5> cases{};  // by Status
  std::uint64_t total = 0, checks = 0, vacuous_checks = 0, zero_signal_checks = 0;
  std::uint64_t laws_that_ran = 0, controls_missing = 0, faults_missed = 0, trainings_failed = 0;
  const CaseRecord* worst = nullptr;
  std::uint64_t cases_of(Status status) const { return cases[static_cast<std::size_t>(status)]; }
};

Census census_of(const Results& results);
/// By law (alphabetical), then precision (widest first). The pointers are into `results`.
std::vector<CaseGroup> groups_of(const Results& results);
/// Widest first, then names not known in alphabetical order.
std::vector<std::string> precisions_of(const Results& results);
/// All cases, worst first.
std::vector<const CaseRecord*> by_severity(const Results& results);

/// The lower median and the largest (NaN above infinity) of a non-empty list.
double median_of(std::vector<double> values);
double worst_of(const std::vector<double>& values);

}  // namespace tally
