// The keys of a history's line, once, for the writer and the reader.
#pragma once

#include "reports/gate/baseline_fields.hpp"
#include "reports/history/history.hpp"

namespace tally {

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
