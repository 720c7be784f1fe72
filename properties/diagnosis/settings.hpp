// The options of a case that the failing stage works by, each with a way to change it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/case/contract.hpp"
#include "properties/diagnosis/evidence.hpp"

namespace tally {

struct Setting {
  std::string of;          // "adam", "layer_norm"
  const Option* option;    // of the contract
  const Choice* as_given;  // the case's own
  std::function<void(Case& c, const OptionValue& value)> set;

  const OptionValue& value() const { return as_given->options.at(option->name); }
};

/// The settings at work. Options that give tensors their shapes are left out. Layers give those of the kind that the
/// failing tensor belongs to, for all its layers at once.
std::vector<Setting> settings_of(const Evidence& evidence);

/// Whether the trace is small enough to be evaluated again so often: by default for every option of a stage.
bool affordable(const Trace& trace, std::size_t evaluations = 128);
inline bool affordable(const Evidence& evidence, std::size_t evaluations = 128) {
  return affordable(evidence.trace, evaluations);
}

/// The kind of the layer that a tap belongs to; empty for none.
std::string layer_kind_of(const Case& c, const std::string& tensor);

}  // namespace tally
