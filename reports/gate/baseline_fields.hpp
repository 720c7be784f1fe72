// The keys of a baseline file, once, for the writer and the reader.
#pragma once

#include "reports/gate/baseline.hpp"
#include "reports/record/fields.hpp"

namespace tally {

template <class Archive, Is<Machine> R>
void fields(Archive& a, R& r) {
  a("executor", r.executor), a("device", r.device), a("toolchain", r.toolchain);
}

template <class Archive, Is<Drawn> R>
void fields(Archive& a, R& r) {
  a("campaign", r.campaign), a("seed", r.seed), a("effort", r.effort);
}

template <class Archive, Is<BlessedGroup> R>
void fields(Archive& a, R& r) {
  a("law", r.law), a("precision", r.precision), a("machine", r.machine), a("drawn", r.drawn);
  a("cases", r.cases), a("worst_ratio", r.worst_ratio), a("digest", r.digest), a("reason", r.reason);
}

template <class Archive, Is<BlessedFault> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("machine", r.machine), a("law", r.law), a("reason", r.reason);
}

template <class Archive, Is<Baseline> R>
void fields(Archive& a, R& r) {
  a("schema", r.schema), a("groups", r.groups), a("faults", r.faults);
}

}  // namespace tally
