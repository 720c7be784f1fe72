// The keys of a study's document, once (fields.hpp says how). studies.md says what each key means.
#pragma once

#include "reports/record/archive.hpp"
#include "reports/record/study.hpp"

namespace tally {

template <class Archive, Is<Environment> R>
void fields(Archive& a, R& r) {
  a("tally_version", r.tally_version), a("executor", r.executor), a("device", r.device);
  a("compiler", r.compiler), a("flags", r.flags), a("cuda", r.cuda), a("blas", r.blas), a("ledger", r.ledger);
  a.optional("fault", r.fault, !r.fault.empty()), a.optional("magnitude", r.magnitude, r.magnitude != 1);
  a.optional("kernels", r.kernels, !r.kernels.empty());
}

template <class Archive, Is<StudyColumn> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("words", r.words), a("numbers", r.numbers);
}

template <class Archive, Is<StudyTable> R>
void fields(Archive& a, R& r) {
  a("title", r.title), a("note", r.note), a("columns", r.columns);
}

template <class Archive, Is<StudySeries> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("x", r.x), a("y", r.y), a("low", r.low), a("high", r.high);
}

template <class Archive, Is<StudyPlot> R>
void fields(Archive& a, R& r) {
  a("title", r.title), a("along", r.along), a("up", r.up);
  a("logarithmic_x", r.logarithmic_x), a("logarithmic_y", r.logarithmic_y), a("series", r.series);
}

template <class Archive, Is<Study> R>
void fields(Archive& a, R& r) {
  a("schema", r.schema), a("family", r.family), a("name", r.name), a("question", r.question), a("answer", r.answer);
  a("status", r.status), a("message", r.message), a("seed", r.seed), a("effort", r.effort), a("partial", r.partial);
  a("device", r.device), a.later("tree", r.tree);
  a("tables", r.tables), a("plots", r.plots), a("notes", r.notes);
  a("environment", r.environment);
}

}  // namespace tally
