// The keys of a baseline file and of a history's line, once, for writers and readers.
#pragma once

#include <stdexcept>

#include "reports/gate/baseline.hpp"
#include "reports/history/history.hpp"
#include "reports/record/fields.hpp"
#include "reports/text/text.hpp"

namespace tally {

// The keys of a baseline file, once, for the writer and the reader.

template <class Archive, Is<Machine> R>
void fields(Archive& a, R& r) {
  a("executor", r.executor), a("device", r.device), a("toolchain", r.toolchain);
}

template <class Archive, Is<Drawn> R>
void fields(Archive& a, R& r) {
  a("campaign", r.campaign), a("seed", r.seed), a("effort", r.effort);
}

template <class Archive, Is<Blessing> R>
void fields(Archive& a, R& r) {
  a("key", r.key), a("commit", r.commit), a("reason", r.reason), a("machine", r.machine), a("drawn", r.drawn);
}

/// The ratio twice: for people, and to the bit.
template <class Archive, Is<BlessedCase> R>
void fields(Archive& a, R& r) {
  a("law", r.law), a("precision", r.precision), a("id", r.id), a("status", r.status);
  a.optional("tag", r.tag, !r.tag.empty());
  a("worst_ratio", r.worst_ratio), a("rounding_drift", r.rounding_drift);
  std::string bits = hexadecimal_text(r.worst_ratio);
  a("worst_ratio_bits", bits);
  if constexpr (!std::is_const_v<R>) {
    if (bits != hexadecimal_text(r.worst_ratio))
      throw std::runtime_error("case " + r.id + " of " + r.law + ": worst_ratio is " + shortest(r.worst_ratio) +
                               " and worst_ratio_bits " + bits + ", expected the same number");
  }
  a("digest", r.digest), a("operations", r.operations), a("blessing", r.blessing);
}

template <class Archive, Is<CasePlace> R>
void fields(Archive& a, R& r) {
  a("law", r.law), a("precision", r.precision), a("id", r.id);
}

template <class Archive, Is<BlessedFault> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("law", r.law), a("blessing", r.blessing);
}

template <class Archive, Is<Baseline> R>
void fields(Archive& a, R& r) {
  a("schema", r.schema), a("blessings", r.blessings), a("cases", r.cases), a("faults", r.faults);
  a.optional("replaced", r.replaced, !r.replaced.empty());
}

// The keys of a history's line, once, for the writer and the reader.

template <class Archive, Is<PrecisionHistory> R>
void fields(Archive& a, R& r) {
  a("precision", r.precision), a("cases", r.cases), a("failed", r.failed);
  a("worst_ratio", r.worst_ratio), a("median_ratio", r.median_ratio);
}

template <class Archive, Is<HistoryEntry> R>
void fields(Archive& a, R& r) {
  a("schema", r.schema), a("commit", r.commit), a("machine", r.machine), a("drawn", r.drawn);
  a("verdict", r.verdict), a("precisions", r.precisions);
}

}  // namespace tally
