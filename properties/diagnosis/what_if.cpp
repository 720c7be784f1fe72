#include "properties/diagnosis/what_if.hpp"

#include <exception>
#include <map>
#include <set>

#include "properties/lenses/walk.hpp"

namespace tally {

namespace {

struct Left {
  Values values, bounds;
};
/// By tap.
using AllValues = std::map<std::string, Left>;

/// What each stage leaves of what it read.
AllValues left_by_stages(const Case& c, const Trace& trace, const std::set<std::string>& wanted) {
  std::vector<HeldTensor> kept;
  Walk walk(c, trace, Lens::local);
  walk.wanted = &wanted;
  walk.judges = false;
  walk.kept = &kept;
  walk_all(walk);
  AllValues left;
  for (HeldTensor& each : kept) left[each.name.text()] = {std::move(each.expected), std::move(each.bound)};
  return left;
}

/// What the stages since the last taps leave together.
AllValues left_together(const Case& c, const Trace& trace, const std::set<std::string>& wanted) {
  std::map<std::string, oracle::Expected> kept;
  Walk walk(c, trace, Lens::group);
  walk.expected = &kept;
  walk_all(walk);
  AllValues left;
  for (const auto& [name, expected] : kept) {
    if (!wanted.contains(name)) continue;
    Left& tensor = left[name];
    for (Eigen::Index i = 0; i < expected.v.size(); ++i) {
      tensor.values.push_back(static_cast<double>(expected.v.data()[i]));
      tensor.bounds.push_back(expected.e.data()[i]);
    }
  }
  return left;
}

}  // namespace

std::vector<std::optional<Values>> what_if(const Evidence& evidence, const Case& c, const Trace& trace,
                                           std::vector<std::optional<Values>>* bounds) {
  AllValues expected;
  try {
    const std::set<std::string> wanted = evidence.names();
    expected = evidence.check.lens == "group" ? left_together(c, trace, wanted) : left_by_stages(c, trace, wanted);
  } catch (const std::exception&) {
    return {};  // no such case, or no rule for it: nothing to be said
  }
  std::vector<std::optional<Values>> left;
  for (const HeldTensor& held : evidence.held) {
    const auto found = expected.find(held.name.text());
    const bool changed = found != expected.end() && found->second.values.size() == held.got.size() &&
                         found->second.values != held.expected;
    left.push_back(changed ? std::optional(std::move(found->second.values)) : std::nullopt);
    if (bounds == nullptr) continue;
    const bool bounded = changed && found->second.bounds.size() == held.got.size();
    bounds->push_back(bounded ? std::optional(std::move(found->second.bounds)) : std::nullopt);
  }
  return left;
}

Trace altered(const Trace& trace, const std::function<std::optional<Tensor>(const Tap& tap)>& change) {
  Trace other;
  other.claims = trace.claims;
  other.groups = trace.groups;
  other.case_hash = trace.case_hash;
  other.whole = trace.whole;
  for (const Tap& tap : trace.taps()) {
    std::optional<Tensor> changed = change(tap);
    other.add(tap.name, changed ? *std::move(changed) : tap.value);
  }
  return other;
}

bool AlteredTrace::alter(const std::vector<std::size_t>& taps,
                         const std::function<std::optional<Tensor>(const Tap& tap)>& change) {
  for (const std::size_t number : altered_) now_.replace(number, original_.taps()[number].value);
  altered_.clear();
  for (const std::size_t number : taps) {
    const Tap& tap = original_.taps()[number];
    std::optional<Tensor> changed = change(tap);
    if (!changed || *changed == tap.value) continue;
    now_.replace(number, *std::move(changed));
    altered_.push_back(number);
  }
  return !altered_.empty();
}

bool says_something(const Evidence& evidence, const Hypothesis& hypothesis) {
  for (std::size_t i = 0; i < hypothesis.left.size(); ++i) {
    if (hypothesis.left[i] && evidence.held[i].name.text() == evidence.check.tap) return true;
  }
  return false;
}

}  // namespace tally
