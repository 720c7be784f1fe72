#include <cmath>
#include <cstdio>
#include <utility>

#include "reports/record/record.hpp"

namespace tally {

std::string_view word_of(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::fail:
      return "fail";
    case Status::vacuous:
      return "vacuous";
    case Status::not_run:
      return "not_run";
    case Status::error:
      return "error";
  }
  return "error";
}

std::string_view word_of(FailureClass c) {
  switch (c) {
    case FailureClass::none:
      return "none";
    case FailureClass::logic:
      return "logic";
    case FailureClass::precision:
      return "precision";
    case FailureClass::order:
      return "order";
    case FailureClass::non_finite:
      return "non_finite";
    case FailureClass::skip_decision:
      return "skip_decision";
  }
  return "none";
}

std::string text_of(const BoundTerms& terms) {
  const std::pair<const char*, double> all[] = {{"input", terms.input},
                                                {"accumulation", terms.accumulation},
                                                {"storage", terms.storage},
                                                {"function", terms.function},
                                                {"other", terms.other}};
  const double bound = terms.sum();
  std::string text;
  for (const auto& [name, value] : all) {
    const double percent = 100 * value / bound;
    if (!(std::fabs(percent) >= 0.1)) continue;
    char share[32];
    std::snprintf(share, sizeof share, " %.3g %%", percent);
    text += (text.empty() ? "" : ", ") + std::string(name) + share;
  }
  return text;
}

std::string text_of(const std::vector<Suspicion>& suspects) {
  if (suspects.empty()) return "";
  const Suspicion& first = suspects.front();
  char share[48];
  std::snprintf(share, sizeof share, "%.6g %%", 100 * first.share);
  std::string names = first.name;
  for (std::size_t i = 1; i < suspects.size(); ++i) {
    const bool as_good = suspects[i].share == first.share && suspects[i].parameters == first.parameters;
    if (as_good) names += " or " + suspects[i].name;
  }
  std::string text = "looks like " + names + " (explains " + share + " of the error";
  if (first.factor != 1) {
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.4g", first.factor);
    text += std::string(", factor ") + factor + (first.factor_word.empty() ? "" : " = " + first.factor_word);
  }
  return text + ")";
}

}  // namespace tally
