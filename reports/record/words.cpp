#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reports/record/record.hpp"

namespace tally {

CaseRecord::CaseRecord() = default;
CaseRecord::CaseRecord(const CaseRecord&) = default;
CaseRecord::CaseRecord(CaseRecord&&) noexcept = default;
CaseRecord& CaseRecord::operator=(const CaseRecord&) = default;
CaseRecord& CaseRecord::operator=(CaseRecord&&) noexcept = default;
CaseRecord::~CaseRecord() = default;

TensorCheck::TensorCheck() = default;
TensorCheck::TensorCheck(const TensorCheck&) = default;
TensorCheck::TensorCheck(TensorCheck&&) noexcept = default;
TensorCheck& TensorCheck::operator=(const TensorCheck&) = default;
TensorCheck& TensorCheck::operator=(TensorCheck&&) noexcept = default;
TensorCheck::~TensorCheck() = default;

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

namespace {

constexpr std::size_t most_named = 3;

/// The first and those as good, each name once: one formula may be tried on many tensors.
std::string names_of_likeliest(const std::vector<Suspicion>& suspects) {
  const Suspicion& first = suspects.front();
  std::vector<std::string> names;
  for (const Suspicion& each : suspects) {
    const bool as_good = each.share == first.share && each.parameters == first.parameters;
    if (as_good && std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < std::min(names.size(), most_named); ++i) text += " or " + names[i];
  if (names.size() > most_named) text += " or " + std::to_string(names.size() - most_named) + " more";
  return text;
}

}  // namespace

std::string text_of(const std::vector<Suspicion>& suspects) {
  if (suspects.empty()) return "";
  const Suspicion& first = suspects.front();
  char share[48];
  std::snprintf(share, sizeof share, "%.6g %%", 100 * first.share);
  std::string text = "looks like " + names_of_likeliest(suspects) + " (explains " + share + " of the error";
  if (first.factor != 1) {
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.4g", first.factor);
    text += std::string(", factor ") + factor + (first.factor_word.empty() ? "" : " = " + first.factor_word);
  }
  return text + ")";
}

}  // namespace tally
