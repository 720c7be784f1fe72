// The checks of a held run, counted into strata, and how much of their bounds right kernels use.
#include "properties/lab/evidence/case_strata.hpp"

#include <algorithm>

#include "properties/campaign/provenance/operation.hpp"
#include "properties/lab/evidence/cases.hpp"
#include "properties/lab/evidence/evidence_run.hpp"
#include "properties/lab/evidence/table_rows.hpp"
#include "reports/record/study.hpp"

namespace tally {
namespace {

std::string part_of_check(const Case& c, const TensorCheck& check) {
  return check.lens == "machine" ? check.stage : part_of(c, tap_name_of(check.tap));
}

}  // namespace

void count(Stratum& stratum, const TensorCheck& check, std::uint64_t number) {
  ++stratum.checks;
  stratum.alarms += check.status == Status::fail || check.status == Status::error;
  stratum.vacuous += check.status == Status::vacuous && !check.zero_signal;
  stratum.not_run += check.status == Status::not_run;
  const bool handed_over = check.tap.find("/in.") != std::string::npos;
  stratum.judged += !handed_over && !check.zero_signal && check.status != Status::not_run;
  stratum.see_worst(check.worst_ratio, number, check.tap);
  stratum.least_chance = std::min(stratum.least_chance, check.spread.log10_chance);
}

ByPart counted(const Case& c, const EvidenceRun& held, std::uint64_t number) {
  ByPart parts;
  for (const TensorCheck& check : held.checks) count(parts[{check.lens, part_of_check(c, check)}], check, number);
  for (const auto& [place, ratios] : held.ratios) parts[place].ratios.merge(ratios);
  return parts;
}

void count_alarms(Strata& strata, const std::string& among, const Case& c, const EvidenceRun& held,
                  std::uint64_t number) {
  std::string token;
  for (const TensorCheck& check : held.checks) {
    if (check.status != Status::fail && check.status != Status::error) continue;
    if (token.empty()) token = replay_token(c);
    count(strata.at({"alarm", among, check.lens, check.tap, token}), check, number);
  }
  if (!held.refusal.empty()) strata.at({"refusal", among, std::to_string(number), held.refusal, replay_token(c)});
}

void settle_cases(Strata& strata, const EvidenceRun& held) {
  for (const auto& [labels, stratum] : strata.all()) {
    strata.at(labels).cases = 1;
    strata.at(labels).alarmed = stratum.alarms > 0;
    strata.at(labels).refused = !held.refusal.empty();
  }
}

namespace {

/// Of all tensors, those of excess 0 too.
double quantile(const Stratum& s, double share) {
  const double positive = static_cast<double>(s.ratios.count()), all = static_cast<double>(s.judged);
  const double rank = share * all - (all - positive);
  return rank > 0 ? s.ratios.quantile(rank / positive) : 0;
}

}  // namespace

void count_excess(Strata& strata, const Case& c, const EvidenceRun& held) {
  const auto formats = formats_written(c, held.trace);
  for (const TensorCheck& check : held.checks) {
    if (check.lens != "local" || check.status != Status::pass) continue;
    const std::string operation = operation_writing(c, tap_name_of(check.tap));
    const auto format = formats.find(operation);
    if (format == formats.end()) continue;
    for (const std::string& of : {operation, std::string("all")}) {
      Stratum& stratum = strata.at({"excess", of, format->second});
      ++stratum.checks, ++stratum.judged;
      if (check.excess > 0) stratum.ratios.add(check.excess);
      stratum.worst = std::max(stratum.worst, check.excess);
    }
  }
}

StudyTable excess_of(const Strata& strata, const std::string& only) {
  TableRows rows(
      only.empty() ? excess_table : "Of " + only + " operations",
      "Of tensors: the largest (error - u) / (bound - u) of an element, u half an ulp as stored; 0 where no "
      "error is larger than the last rounding's, where a bound has no room for a second, and where one value "
      "alone is right.");
  for (const std::string& operation : strata.next({"excess"})) {
    if (!only.empty() && operation != only) continue;
    for (const std::string& format : strata.next({"excess", operation})) {
      const Stratum s = strata.sum({"excess", operation, format});
      rows.word("operation", operation).word("format", format).count("tensors", s.judged);
      for (const auto& [name, share] :
           {std::pair{"median", 0.5}, {"90 %", 0.9}, {"99 %", 0.99}, {"99.9 %", 0.999}, {"99.99 %", 0.9999}})
        rows.number(name, quantile(s, share));
      rows.number("most", s.worst);
    }
  }
  return std::move(rows).table();
}

namespace {

std::string depth_of(const Case& c) {
  return std::to_string(std::ranges::count(c.model.layers, "linear", [](const Layer& l) { return l.kind; }));
}

/// Whether every micro-batch of the first window has at least eight valid items.
bool many_items(const Case& c) {
  std::int64_t row = 0;
  for (const std::int64_t rows : c.windows.front()) {
    double items = 0;
    for (const std::int64_t end = row + rows; row < end; ++row) items += item_weight(c, row).to_double();
    if (!(items >= 8)) return false;
  }
  return true;
}

/// What the case computes with beside its storage format, one word pair each: "buffer", "fp16".
std::vector<std::pair<const char*, std::string>> formats_beside(const Precision& precision) {
  const auto word = [](Dtype dtype) { return std::string(name_of(dtype)); };
  return {{"buffer", word(precision.accumulate)},
          {"master", word(precision.master)},
          {"GEMM accumulator", word(precision.compute)},
          {"GEMM operands", precision.tf32 ? "tf32" : "as stored"}};
}

bool has_usual_formats(const Precision& precision) { return precision == Precision{.storage = precision.storage}; }

/// Of cases that compute with fp32 throughout, beside their storage: the figure speaks of those.
void count_gradients(Strata& strata, const Case& c, const EvidenceRun& held, std::uint64_t number) {
  if (!has_usual_formats(c.precision)) return;
  const Labels labels{"gradient", std::string(name_of(c.precision.storage)), depth_of(c),
                      many_items(c) ? "8 or more" : "fewer"};
  for (const TensorCheck& check : held.checks) {
    if (check.lens == "end_to_end" && check.tap.starts_with("w0/unscale/d.")) count(strata.at(labels), check, number);
  }
}

}  // namespace

Strata strata_of(const Case& c, const DrawnRun& run, const EvidenceRun& held, std::uint64_t number) {
  const std::string precision(name_of(c.precision.storage)), depth = depth_of(c);
  const Labels order{"order", run.subject.order_seed == 0 ? "sequential" : "drawn for every product",
                     run.subject.schedule_seed == 0 ? "in order" : "drawn"};
  Strata strata;
  for (const auto& [place, stratum] : counted(c, held, number)) {
    const auto& [lens, part] = place;
    for (const Labels& labels :
         {Labels{"all"}, Labels{"precision", lens, precision}, Labels{"stage", lens, precision, part},
          Labels{"depth", lens, precision, depth}, order})
      strata.at(labels).merge(stratum);
    for (const auto& [what, format] : formats_beside(c.precision)) strata.at({"format", what, format}).merge(stratum);
    for (const auto& [operation, claim] : held.trace.claims.kernels) {
      if (lens == "local" && part_of_operation(operation) == part)
        strata.at({"variant", operation, claim.variant}).merge(stratum);
    }
  }
  count_gradients(strata, c, held, number);
  count_excess(strata, c, held);
  count_alarms(strata, "clean cases", c, held, number);
  settle_cases(strata, held);
  return strata;
}

Strata hard_strata_of(const std::string& family, const Case& c, const EvidenceRun& held, std::uint64_t number) {
  Strata strata;
  for (const auto& [place, stratum] : counted(c, held, number)) {
    strata.at({"hard", family, place.first, std::string(name_of(c.precision.storage))}).merge(stratum);
  }
  count_alarms(strata, family, c, held, number);
  settle_cases(strata, held);
  return strata;
}

}  // namespace tally
