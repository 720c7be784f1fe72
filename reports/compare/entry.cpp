#include "reports/compare/entry.hpp"

#include <algorithm>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/sha256.hpp"

namespace tally {
namespace {

constexpr std::size_t digest_digits = 16;

auto place_of(const CaseEntry& entry) { return std::tie(entry.law, entry.precision, entry.id); }

}  // namespace

bool CaseEntry::same_place(const CaseEntry& other) const { return place_of(*this) == place_of(other); }

bool CaseEntry::repeats() const {
  return std::all_of(operations.begin(), operations.end(), [](const OperationRecord& o) { return o.repeats; });
}

bool stands_before(const CaseEntry& a, const CaseEntry& b) { return place_of(a) < place_of(b); }

std::string digest_of(const CaseEntry& entry) {
  std::string text = std::string(word_of(entry.status)) + " " + hexadecimal_text(entry.worst_ratio) + " " +
                     hexadecimal_text(entry.rounding_drift) + "\n";
  for (const OperationRecord& o : entry.operations)
    text += o.operation + " " + o.variant + " " + o.inputs + " " + o.bits + " " + (o.repeats ? "" : "varies ") +
            hexadecimal_text(o.drift) + "\n";
  return hex(sha256(text)).substr(0, digest_digits);
}

CaseEntry entry_of(const CaseRecord& c) {
  CaseEntry entry{c.law, c.precision, c.id, c.status, ratio_of(c), c.rounding_drift, "", c.operations};
  entry.digest = digest_of(entry);
  return entry;
}

std::vector<CaseEntry> entries_of(const Results& results) {
  std::vector<CaseEntry> entries;
  for (const CaseRecord& c : results.cases) entries.push_back(entry_of(c));
  std::stable_sort(entries.begin(), entries.end(), stands_before);
  const auto same = [](const CaseEntry& a, const CaseEntry& b) { return a.same_place(b); };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

}  // namespace tally
