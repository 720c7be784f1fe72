// The keys of results.json and of a study's document, once: fields(archive, record) hands every member with its key to
// an archive that writes or reads it. results.md and studies.md say what each key means.
#pragma once

#include <concepts>
#include <type_traits>

#include "reports/record/record.hpp"
#include "reports/record/study.hpp"

namespace tally {

// What the lists of keys are written with: fields.hpp says how.

template <class R, class Record>
concept Is = std::same_as<std::remove_const_t<R>, Record>;

// The keys of a study's document, once (fields.hpp says how). studies.md says what each key means.

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

// The keys of results.json, once: fields(archive, record) hands every member with its key to an archive that writes
// or reads it. results.md says what each key means.

template <class Archive, Is<SpreadFinding> R>
void fields(Archive& a, R& r) {
  a("test", r.test), a("comparisons", r.comparisons), a("log10_chance", r.log10_chance);
  a("deviation", r.deviation), a("share", r.share);
}

template <class Archive, Is<BoundTerms> R>
void fields(Archive& a, R& r) {
  a("input", r.input), a("accumulation", r.accumulation), a("storage", r.storage), a("function", r.function);
  a("other", r.other);
}

template <class Archive, Is<Suspicion> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("share", r.share), a("parameters", r.parameters), a("factor", r.factor);
  a("factor_word", r.factor_word), a("sentence", r.sentence), a("formula", r.formula);
}

template <class Archive, Is<ElementCheck> R>
void fields(Archive& a, R& r) {
  a("index", r.index), a("expected", r.expected), a("got", r.got), a("error", r.error), a("bound", r.bound);
}

template <class Archive, Is<ElementMap> R>
void fields(Archive& a, R& r) {
  a("rows", r.rows), a("columns", r.columns), a("block_rows", r.block_rows), a("block_columns", r.block_columns);
  a("ratio", r.ratio);
}

template <class Archive, Is<ElementProfile> R>
void fields(Archive& a, R& r) {
  a("stretch", r.stretch), a("low", r.low), a("high", r.high);
  a("value", r.value), a("error", r.error), a("bound", r.bound), a.optional("map", r.map, r.map.rows > 0);
}

template <class Archive, Is<TensorCheck> R>
void fields(Archive& a, R& r) {
  a("lens", r.lens), a("tap", r.tap), a("stage", r.stage), a("status", r.status), a("failure", r.failure);
  a.optional("message", r.message, !r.message.empty());
  a("elements", r.elements), a("differing", r.differing), a("over_bound", r.over_bound);
  a("non_finite", r.non_finite), a("uninformative", r.uninformative);
  a("worst_ratio", r.worst_ratio), a("worst_index", r.worst_index);
  a.optional("place", r.place, !r.place.empty());
  a.later("excess", r.excess), a.later("roundings", r.roundings);
  a("expected", r.expected), a("got", r.got), a("error", r.error), a("bound", r.bound);
  a("zero_signal", r.zero_signal), a.later("terms", r.terms), a.later("spread", r.spread);
  a.later("adopted_share", r.adopted_share);
  a.optional("elements_worst", r.elements_worst, !r.elements_worst.empty());
  a.optional("profile", r.profile, r.profile.stretch > 0);
}

template <class Archive, Is<OperationStanding> R>
void fields(Archive& a, R& r) {
  a("format", r.format), a("shapes", r.shapes), a("checks", r.checks);
  a.optional("vacuous", r.vacuous, r.vacuous > 0), a.optional("ratio", r.ratio, r.ratio != 0);
  a.optional("excess", r.excess, r.excess != 0), a.optional("roundings", r.roundings, r.roundings != 0);
}

template <class Archive, Is<OperationRecord> R>
void fields(Archive& a, R& r) {
  a("operation", r.operation), a.optional("variant", r.variant, !r.variant.empty());
  a("inputs", r.inputs), a("bits", r.bits), a("drift", r.drift);
  a.optional("repeats", r.repeats, !r.repeats), a.optional("standing", r.standing, r.standing.checks > 0);
  a.optional("unseen", r.unseen, !r.unseen.empty());
}

template <class Archive, Is<RankStage> R>
void fields(Archive& a, R& r) {
  a("stage", r.stage), a("status", r.status), a.optional("failed", r.failed, r.failed > 0);
  a.optional("first", r.first, r.first);
}

template <class Archive, Is<RankRow> R>
void fields(Archive& a, R& r) {
  a("first", r.first), a("last", r.last), a("stages", r.stages), a.optional("pipe", r.pipe, r.pipe >= 0);
}

template <class Archive, Is<CaseRecord> R>
void fields(Archive& a, R& r) {
  a("id", r.id), a("law", r.law), a("precision", r.precision), a("title", r.title), a("token", r.token);
  a("seed", r.seed), a("micro_batches", r.micro_batches), a("status", r.status), a("failure", r.failure);
  a("message", r.message), a("first_stage", r.first_stage), a.optional("kernel", r.kernel, !r.kernel.empty());
  a("checks", r.checks), a("vacuous_checks", r.vacuous_checks), a("elements", r.elements);
  a("zero_signal_checks", r.zero_signal_checks);
  a("worst_local_ratio", r.worst_local_ratio), a("worst_end_to_end_ratio", r.worst_end_to_end_ratio);
  a.later("formats", r.formats), a.later("worst_local_excess", r.worst_local_excess);
  a.later("worst_end_to_end_excess", r.worst_end_to_end_excess);
  a.later("comparisons", r.comparisons), a.later("least_log10_chance", r.least_log10_chance);
  a.later("least_likely", r.least_likely);
  a("rounding_drift", r.rounding_drift), a("semantic_gap", r.semantic_gap), a("drift_bound", r.drift_bound);
  a.later("decision_drift", r.decision_drift), a.later("adopted_share", r.adopted_share);
  a("worst", r.worst), a.later("suspects", r.suspects), a.later("operations", r.operations);
  a.optional("ranks", r.ranks, !r.ranks.empty()), a.optional("first_tap", r.first_tap, !r.first_tap.empty());
}

template <class Archive, Is<LawRecord> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("family", r.family), a("statement", r.statement), a("faults", r.faults);
  a("control", r.control), a("status", r.status), a("control_differs", r.control_differs);
  a("cases", r.cases), a("failed", r.failed), a("vacuous", r.vacuous), a("not_run", r.not_run);
  a("checks", r.checks), a("worst_ratio", r.worst_ratio), a("message", r.message);
}

template <class Archive, Is<FaultRecord> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("stage", r.stage), a("right", r.right), a("wrong", r.wrong), a("source", r.source);
  a("caught", r.caught), a("right_stage", r.right_stage);
  a("law", r.law), a("found_stage", r.found_stage), a("token", r.token), a("message", r.message);
  a.later("suspects", r.suspects), a.later("right_suspect", r.right_suspect);
  a.later("knob", r.knob), a.later("magnitude", r.magnitude), a.later("smallest_caught", r.smallest_caught);
}

template <class Archive, Is<TrainingRecord> R>
void fields(Archive& a, R& r) {
  a("dataset", r.dataset), a("model", r.model), a("precision", r.precision), a("cut", r.cut);
  a("windows", r.windows), a("skipped", r.skipped);
  a("accuracy_accumulated", r.accuracy_accumulated), a("accuracy_full", r.accuracy_full);
  a("semantic_gap", r.semantic_gap), a("rounding_drift", r.rounding_drift), a("bound", r.bound);
  a("accumulated_minus_full", r.accumulated_minus_full);
  a("status", r.status), a("checks", r.checks), a("worst_local_ratio", r.worst_local_ratio), a("message", r.message);
}

template <class Archive, Is<TriggerRecord> R>
void fields(Archive& a, R& r) {
  a("name", r.name), a("group", r.group), a("kind", r.kind), a("description", r.description);
  a("seen", r.seen), a("pairs", r.pairs);
}

template <class Archive, Is<PairsRecord> R>
void fields(Archive& a, R& r) {
  a("seen", r.seen), a("refused", r.refused), a("unseen", r.unseen);
}

template <class Archive, Is<CertifiedRecord> R>
void fields(Archive& a, R& r) {
  a("cases", r.cases), a("stages", r.stages), a("elements", r.elements), a("undecided", r.undecided);
  a("disagreements", r.disagreements);
}

template <class Archive, Is<Results> R>
void fields(Archive& a, R& r) {
  a("schema", r.schema), a("campaign", r.campaign), a("seed", r.seed), a("effort", r.effort);
  a.optional("options", r.options, !r.options.empty());
  a("partial", r.partial), a("partial_reason", r.partial_reason);
  a("ran_on_host", r.ran_on_host), a("ran_on_device", r.ran_on_device), a("device_message", r.device_message);
  a("laws", r.laws), a("cases", r.cases), a("faults", r.faults), a("training", r.training);
  a.later("triggers", r.triggers), a.later("pairs", r.pairs), a.later("certified", r.certified),
      a.later("triggers_required", r.triggers_required), a.later("shard", r.shard);
  a("environment", r.environment), a.later("studies", r.studies);
}

}  // namespace tally
