// A judged recording of operations, and one operation of it, as documents.
#include <nlohmann/json.hpp>

#include "reports/operations/operations_text.hpp"
#include "reports/operations/operations_words.hpp"
#include "reports/record/json.hpp"

namespace tally {
namespace {

using nlohmann::json;

json place_json(const OperationPlace& place) {
  return {{"number", place.number}, {"step", place.step},     {"operation", place.operation},
          {"where", place.where},   {"module", place.module}, {"phase", place.phase}};
}

json counts_json(const OperationCounts& counts) {
  json all{{"operations", counts.operations},
           {"judged", counts.held},
           {"nothing_to_hold", counts.nothing},
           {"not_judged", counts.not_judged},
           {"failed", counts.failed},
           {"elements", counts.elements},
           {"undecided_elements", counts.undecided},
           {"vacuous_results", counts.vacuous},
           {"worst_ratio", json_of_number(counts.worst)}};
  if (counts.worst > 0) all["worst_at"] = place_json(counts.at);
  return all;
}

template <class Map>
json table_json(const Map& map) {
  json all = json::object();
  for (const auto& [name, counts] : map) all[name] = counts_json(counts);
  return all;
}

json result_json(const JudgedResult& result) {
  json elements = json::array();
  for (const JudgedElement& each : result.elements_worst)
    elements.push_back({{"place", each.place},
                        {"found", json_of_number(each.found)},
                        {"expected", json_of_number(each.expected)},
                        {"allowed", json_of_number(each.allowed)},
                        {"ratio", json_of_number(each.r)}});
  return {{"name", result.name},
          {"format", result.format},
          {"sizes", result.sizes},
          {"elements", result.elements},
          {"wrong", result.wrong},
          {"undecided", result.undecided},
          {"worst_ratio", json_of_number(result.worst)},
          {"spread", json_of_number(result.spread)},
          {"imprecise", result.imprecise},
          {"vacuous", result.vacuous},
          {"elements_worst", elements},
          {"failed", result.fails()}};
}

json results_json(const JudgedOperation& operation) {
  json results = json::array();
  for (const JudgedResult& result : operation.judged.results) results.push_back(result_json(result));
  return {{"at", place_json(operation.place)}, {"fault", fault_of(operation.judged)}, {"results", results}};
}

}  // namespace

std::string operations_json(const JudgedRecording& judged) {
  const auto [word, sentence] = verdict_of(judged);
  json failures = json::array(), reasons = json::array();
  for (const JudgedOperation& failure : judged.failures) failures.push_back(results_json(failure));
  for (const auto& [why, which] : judged.not_judged)
    reasons.push_back(
        {{"why", why}, {"operations", which.operations}, {"first", place_json(which.first)}, {"next", next_step(why)}});
  json all{{"tally", "judged operations"},
           {"verdict", word},
           {"sentence", sentence},
           {"framework", judged.header.framework},
           {"profile", {{"name", judged.profile}, {"of_recording", judged.header.profile}, {"claims", judged.claims}}},
           {"share", judged.header.share},
           {"all", counts_json(judged.all)},
           {"by_operation", table_json(judged.by_operation)},
           {"by_module", table_json(judged.by_module)},
           {"by_phase", table_json(judged.by_phase)},
           {"failures", failures},
           {"not_judged", reasons},
           {"unseen", judged.unseen},
           {"ended", judged.ended},
           {"seen", judged.seen}};
  if (judged.first_non_finite) all["first_non_finite"] = place_json(*judged.first_non_finite);
  return canonical_text(all);
}

std::string operation_json(const JudgedOperation& operation) {
  constexpr const char* words[] = {"judged", "nothing to hold", "not judged"};
  json all = results_json(operation);
  all["tally"] = "judged operation";
  all["status"] = words[operation.judged.status];
  all["why"] = operation.judged.why;
  all["made_non_finite"] = operation.judged.made_non_finite;
  return canonical_text(all);
}

}  // namespace tally
