#include "reports/compare/entry.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/record/tag.hpp"
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

bool same_content(const CaseEntry& a, const CaseEntry& b) {
  if (a.digest == b.digest) return true;
  if (a.operations.empty() == b.operations.empty() || a.status != b.status) return false;
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return bits(a.worst_ratio) == bits(b.worst_ratio) && bits(a.rounding_drift) == bits(b.rounding_drift);
}

bool stands_before(const CaseEntry& a, const CaseEntry& b) { return place_of(a) < place_of(b); }

std::string digest_of(const CaseEntry& entry) {
  std::string text = std::string(word_of(entry.status)) + " " + hexadecimal_text(entry.worst_ratio) + " " +
                     hexadecimal_text(entry.rounding_drift) + "\n";
  for (const OperationRecord& o : entry.operations)
    text += o.operation + " " + o.variant + " " + o.inputs + " " + o.bits + " " + (o.repeats ? "" : "varies ") +
            hexadecimal_text(o.drift) + "\n";
  return hex(sha256_digest(text)).substr(0, digest_digits);
}

CaseEntry entry_of(const CaseRecord& c) {
  CaseEntry entry{c.law, c.precision, c.id, tag_of(c), c.status, ratio_of(c), c.rounding_drift, "", c.operations};
  for (OperationRecord& o : entry.operations) o.standing = {};  // baselines hold bits and errors, no ranks
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
