#include "properties/diagnosis/suspects/tensor_roles.hpp"

#include <algorithm>

#include "properties/diagnosis/settings.hpp"

namespace tally {
namespace {

/// Where the name of a layer or a parameter stands in a tensor's; the longest one. An empty length: nowhere.
struct Span {
  std::size_t at = 0, length = 0;
};

Span object_in(const Case& c, const TapName& name) {
  const std::string& tensor = name.tensor;
  Span found;
  const auto look_for = [&](const std::string& object) {
    const auto at = tensor.find(object);
    if (at == std::string::npos || (at > 0 && tensor[at - 1] != '.')) return;
    const std::size_t end = at + object.size();
    if (end < tensor.size() && tensor[end] != '.') return;
    if (object.size() > found.length) found = {at, object.size()};
  };
  const bool by_layer = name.stage == "forward" || name.stage == "backward" || name.stage == "fork" ||
                        name.stage == "running_stats" || name.stage == "sync_statistics";
  for (std::size_t i = 0; by_layer && i < c.model.layers.size(); ++i) look_for(label_of(c.model, i));
  if (by_layer) return found;
  for (const std::string& parameter : parameters_of(c.model)) look_for(parameter);
  return found;
}

}  // namespace

std::string role_of(const Case& c, const TapName& name) {
  const Span span = object_in(c, name);
  if (span.length == 0) return name.tensor;
  const bool by_layer = name.stage == "forward" || name.stage == "backward" || name.stage == "fork" ||
                        name.stage == "running_stats" || name.stage == "sync_statistics";
  const std::string kind = by_layer ? layer_kind_of(c, name.tensor) : "";
  return kind + ":" + name.tensor.substr(0, span.at) + "*" + name.tensor.substr(span.at + span.length);
}

std::vector<std::size_t> taps_in_role(const Evidence& evidence, const std::string& role) {
  std::vector<std::size_t> found;
  const std::vector<Tap>& taps = evidence.trace.taps();
  for (std::size_t i = 0; i < taps.size(); ++i)
    if (taps[i].name.stage == evidence.check.stage && role_of(evidence.c, taps[i].name) == role) found.push_back(i);
  return found;
}

std::string in_role(const Case& c, const std::string& role, const TapName& beside) {
  const auto star = role.find('*'), colon = role.find(':');
  const Span span = object_in(c, beside);
  if (star == std::string::npos || span.length == 0) return role;
  return role.substr(colon + 1, star - colon - 1) + beside.tensor.substr(span.at, span.length) + role.substr(star + 1);
}

std::string words_of_role(const std::string& role) {
  std::string word = role.substr(role.find(':') + 1);
  if (word.starts_with("in.")) word = word.substr(3);
  const auto star = word.find('*');
  if (star == std::string::npos) return word;
  std::string rest = word.substr(0, star) + word.substr(star + 1);
  while (rest.starts_with(".")) rest = rest.substr(1);
  while (rest.ends_with(".")) rest.pop_back();
  const auto dots = rest.find("..");
  if (dots != std::string::npos) rest.erase(dots, 1);
  return rest.empty() ? "the parameter" : rest == "d" ? "the gradient" : rest;
}

std::vector<std::string> input_roles(const Evidence& evidence) {
  const TapName at = tap_name_of(evidence.check.tap);
  std::vector<std::string> roles;
  for (const Tap& tap : evidence.trace.taps()) {
    const TapName& name = tap.name;
    const bool of_all = name.micro_batch < 0 || at.micro_batch < 0;
    const bool same_run =
        name.window == at.window && (of_all || name.micro_batch == at.micro_batch) && name.stage == at.stage;
    const bool count = tap.value.elements() == 0 || tap.value.dtype == Dtype::i64 || tap.value.dtype == Dtype::u8;
    if (!same_run || count || !name.tensor.starts_with("in.")) continue;
    const std::string role = role_of(evidence.c, name);
    const bool of_no_object = object_in(evidence.c, at).length == 0;
    const bool its_own = of_no_object || in_role(evidence.c, role, at) == name.tensor;
    if (its_own && std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
  }
  return roles;
}

}  // namespace tally
