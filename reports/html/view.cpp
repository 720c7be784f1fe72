#include "reports/html/view.hpp"

#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/html/document.hpp"

namespace tally {
namespace {

/// The storage formats of oracle/case.
constexpr const char* formats[] = {"fp32", "fp16", "bf16", "fp64"};

}  // namespace

bool can_be_chosen(const std::string& precision) {
  return std::find(std::begin(formats), std::end(formats), precision) != std::end(formats);
}

void precision_radios(Markup& page, const Results& results) {
  std::vector<std::pair<std::string, std::string>> choices{{"all", "all"}};
  for (const std::string& precision : precisions_of(results))
    if (can_be_chosen(precision)) choices.emplace_back(precision, precision);
  if (choices.size() > 2) radios(page, "Precision", "precision", choices);
}

std::string precision_rules() {
  std::string rules;
  for (const std::string format : formats)
    rules += "header:has(#precision-" + format + ":checked)~main [data-p]:not([data-p=" + format + "]){display:none}\n";
  return rules;
}

}  // namespace tally
