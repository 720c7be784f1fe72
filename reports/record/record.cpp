// What records come to: verdict, words, totals, shards.
#include "reports/record/record.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "reports/record/triggers.hpp"

namespace tally {
namespace {

struct Seen {
  bool pass = false, fail = false, vacuous = false, error = false;

  void add(Status status) {
    pass |= status == Status::pass;
    fail |= status == Status::fail;
    vacuous |= status == Status::vacuous;
    error |= status == Status::error;
  }
};

}  // namespace

bool control_is_missing(const LawRecord& law) {
  return law.failed == 0 && law.cases > law.not_run + law.vacuous && !law.control.empty() && !law.control_differs;
}

bool triggers_are_missing(const Results& results) {
  if (!results.triggers_required || !results.shard.empty() || results.partial) return false;
  return trigger_totals(results.triggers).unreached > 0;
}

Status verdict_of(const Results& results) {
  if (!results.certified.disagreements.empty()) return Status::error;
  Seen seen;
  seen.fail = triggers_are_missing(results);
  for (const CaseRecord& c : results.cases) seen.add(c.status);
  for (const TrainingRecord& t : results.training) seen.add(t.status);
  for (const LawRecord& law : results.laws) {
    if (law.status != Status::pass) seen.add(law.status);  // a law passes by its cases, not by saying so
    if (law.failed > 0 || (control_is_missing(law) && !results.partial)) seen.add(Status::fail);
  }
  const bool faults_alone = results.cases.empty() && results.training.empty();
  for (const FaultRecord& fault : results.faults) {
    seen.fail |= !fault.caught;
    seen.pass |= fault.caught && faults_alone;
  }
  if (seen.fail) return Status::fail;
  if (seen.error) return Status::error;
  if (results.partial) return Status::not_run;
  if (seen.pass) return Status::pass;
  return seen.vacuous ? Status::vacuous : Status::not_run;
}

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

void add(CertifiedRecord& whole, const CertifiedRecord& part) {
  whole.cases += part.cases;
  whole.stages += part.stages;
  whole.elements += part.elements;
  whole.undecided += part.undecided;
  whole.disagreements.insert(whole.disagreements.end(), part.disagreements.begin(), part.disagreements.end());
}

std::string certified_sentence(const CertifiedRecord& record) {
  if (record.cases + record.stages + record.undecided == 0) return "";
  const std::string tried = std::to_string(record.stages) + " stages and " + std::to_string(record.cases) +
                            " whole cases evaluated again in certified arithmetic";
  const std::string open = record.undecided == 0 ? "" : ", " + std::to_string(record.undecided) + " left undecided";
  if (record.disagreements.empty()) return tried + open + ": " + std::to_string(record.elements) + " elements agree";
  return "the oracle is wrong: of " + tried + open + ", " + std::to_string(record.disagreements.size()) +
         " tensors disagree beyond what long double is allowed";
}

double log10_share(double alpha) { return std::log10(alpha / most_comparisons); }

SpreadVerdict verdict_of(double log10_chance) {
  if (log10_chance < log10_share(family_alpha)) return SpreadVerdict::fail;
  return log10_chance < log10_share(warning_alpha) ? SpreadVerdict::warning : SpreadVerdict::expected;
}

std::string tag_of(const CaseRecord& c) { return c.title.find(" ranks, K = ") != std::string::npos ? "ranks" : ""; }

namespace {

void clear_counts(LawRecord& law) {
  law.cases = law.failed = law.vacuous = law.not_run = 0;
  law.checks = 0;
  law.worst_ratio = 0;
  law.message.clear();
}

void count(LawRecord& law, const CaseRecord& c) {
  ++law.cases;
  law.checks += c.checks;
  law.failed += c.status == Status::fail || c.status == Status::error;
  law.vacuous += c.status == Status::vacuous;
  law.not_run += c.status == Status::not_run;
  law.worst_ratio = std::max({law.worst_ratio, c.worst_local_ratio, c.worst_end_to_end_ratio});
}

void settle(LawRecord& law, bool partial) {
  if (law.cases == 0 || law.not_run == law.cases) {
    law.status = Status::not_run;
  } else if (law.failed > 0) {
    law.status = Status::fail;
  } else if (law.vacuous + law.not_run == law.cases) {
    law.status = Status::vacuous;
  } else if (!law.control_differs && partial) {
    law.status = Status::not_run;
    law.message = "the control has not differed in what ran";
  } else if (!law.control_differs) {
    law.status = Status::fail;
    law.message = "the control never differed: this law could not have failed";
  } else {
    law.status = Status::pass;
  }
}

}  // namespace

void settle_laws(Results& results) {
  std::stable_sort(results.cases.begin(), results.cases.end(), [](const CaseRecord& a, const CaseRecord& b) {
    return std::tie(a.law, a.precision) < std::tie(b.law, b.precision);
  });
  for (LawRecord& law : results.laws) {
    clear_counts(law);
    for (const CaseRecord& c : results.cases) {
      if (c.law == law.name) count(law, c);
    }
    settle(law, results.partial);
  }
}

namespace {

constexpr int most_shards = 10000;

/// The number that the text starts with, taken from it; 0 where there is none.
int number_from(std::string_view& text) {
  int number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return number;
}

}  // namespace

std::string text_of(const ShardName& shard) {
  const std::string text = std::to_string(shard.index) + "/" + std::to_string(shard.count);
  return shard.selection.empty() ? text : text + " of " + shard.selection;
}

ShardName shard_name_of(const std::string& text) {
  std::string_view rest = text;
  ShardName shard;
  shard.index = number_from(rest);
  const bool slash = rest.starts_with("/");
  if (slash) rest.remove_prefix(1);
  shard.count = slash ? number_from(rest) : 0;
  if (rest.starts_with(" of ")) {
    shard.selection = rest.substr(4);
    rest = {};
  }
  if (!rest.empty() || shard.index < 1 || shard.index > shard.count || shard.count > most_shards)
    throw std::invalid_argument("'" + text + "' is not a shard; expected i/n, such as 2/4");
  return shard;
}

}  // namespace tally
