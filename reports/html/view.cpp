#include "reports/html/view.hpp"

#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/census/precisions.hpp"
#include "reports/html/document.hpp"

namespace tally {
namespace {

bool is_storage(const std::string& precision) {
  return std::find(storage_precisions.begin(), storage_precisions.end(), precision) != storage_precisions.end();
}

std::string rule_of(const std::string& precision) {
  return "header:has(#precision-" + precision + ":checked)~main [data-p]:not([data-p=" + precision +
         "]){display:none}\n";
}

}  // namespace

bool can_be_chosen(const std::string& precision) { return is_storage(precision) || precision == "fp64"; }

void precision_radios(Markup& page, const Results& results) {
  std::vector<std::pair<std::string, std::string>> choices{{"all", "all"}};
  for (const std::string& precision : precisions_of(results))
    if (can_be_chosen(precision)) choices.emplace_back(precision, precision);
  if (choices.size() > 2) radios(page, "Precision", "precision", choices);
}

std::string precision_rules() {
  std::string rules;
  for (const char* precision : storage_precisions) rules += rule_of(precision);
  return rules + rule_of("fp64");
}

}  // namespace tally
