#include "properties/diagnosis/what_if.hpp"

#include <exception>
#include <map>
#include <set>

#include "properties/compare/local_walk.hpp"

namespace tally {

std::vector<std::optional<Values>> what_if(const Evidence& evidence, const Case& c, const Trace& trace) {
  std::vector<HeldTensor> kept;
  try {
    const std::set<std::string> wanted = evidence.names();
    LocalWalk walk(c, trace);
    walk.wanted = &wanted;
    walk.judges = false;
    walk.kept = &kept;
    check_all(walk);
  } catch (const std::exception&) {
    return {};  // no such case, or no rule for it: nothing to be said
  }
  std::map<std::string, Values> expected;
  for (HeldTensor& each : kept) expected.emplace(each.name.text(), std::move(each.expected));
  std::vector<std::optional<Values>> left;
  for (const HeldTensor& held : evidence.held) {
    const auto found = expected.find(held.name.text());
    const bool changed =
        found != expected.end() && found->second.size() == held.got.size() && found->second != held.expected;
    left.push_back(changed ? std::optional(std::move(found->second)) : std::nullopt);
  }
  return left;
}

Trace altered(const Trace& trace, const std::function<std::optional<Tensor>(const Tap& tap)>& change) {
  Trace other;
  other.claims = trace.claims;
  other.groups = trace.groups;
  other.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    std::optional<Tensor> changed = change(tap);
    other.add(tap.name, changed ? *std::move(changed) : tap.value);
  }
  return other;
}

bool says_something(const Evidence& evidence, const Hypothesis& hypothesis) {
  for (std::size_t i = 0; i < hypothesis.left.size(); ++i) {
    if (hypothesis.left[i] && evidence.held[i].name.text() == evidence.check.tap) return true;
  }
  return false;
}

}  // namespace tally
