// The registry of faults, and the magnitude that is planted.
#include "properties/faults/fault.hpp"

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "oracle/registered_files.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally {
namespace {
std::map<std::string, Fault, std::less<>>& registry() {
  static std::map<std::string, Fault, std::less<>> all;
  return all;
}
}  // namespace

RegisterFault::RegisterFault(Fault fault, std::source_location at) {
  note_registered(at);
  registry().emplace(fault.name, std::move(fault));
}

std::vector<const Fault*> faults() {
  std::vector<const Fault*> all;
  for (const auto& [name, fault] : registry()) all.push_back(&fault);
  return all;
}

const Fault* find_fault(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

const Bug* bug_of(const Fault& fault) { return find_bug(fault.bug.empty() ? fault.name : fault.bug); }

namespace {

const Bug& known_bug_of(const Fault& fault) {
  const Bug* bug = bug_of(fault);
  if (bug == nullptr) throw std::logic_error("fault " + fault.name + " plants no known bug, but leaves words to it");
  return *bug;
}

}  // namespace

const std::string& stage_of(const Fault& fault) {
  return fault.stage.empty() ? known_bug_of(fault).stages.front() : fault.stage;
}

const std::string& wrong_of(const Fault& fault) {
  return fault.wrong.empty() ? known_bug_of(fault).formula : fault.wrong;
}

namespace {

double magnitude_now = 1;
}

double magnitude() { return magnitude_now; }

AtMagnitude::AtMagnitude(double magnitude) : before_(magnitude_now) {
  const bool inside = magnitude >= 0 && magnitude <= 1;
  if (!inside) throw std::invalid_argument("a magnitude is a number from 0 to 1, not " + std::to_string(magnitude));
  magnitude_now = magnitude;
}

AtMagnitude::~AtMagnitude() { magnitude_now = before_; }

double blend(double right, double wrong) {
  if (magnitude_now == 0 || right == wrong) return right;  // equal infinities have no difference
  return magnitude_now == 1 ? wrong : right + magnitude_now * (wrong - right);
}

float blend(float right, float wrong) {
  return static_cast<float>(blend(static_cast<double>(right), static_cast<double>(wrong)));
}

std::int64_t blend_whole(std::int64_t right, std::int64_t wrong) {
  return right + static_cast<std::int64_t>(magnitude_now * static_cast<double>(wrong - right));
}

bool hits(std::size_t i) {
  const auto before = static_cast<double>(i);
  return std::floor((before + 1) * magnitude_now) > std::floor(before * magnitude_now);
}

}  // namespace tally
