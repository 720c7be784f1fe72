#include "properties/studies/evidence/case_strata.hpp"

#include <algorithm>

#include "properties/studies/evidence/counts.hpp"
#include "properties/studies/evidence/excess.hpp"
#include "properties/studies/evidence/part.hpp"

namespace tally {
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
