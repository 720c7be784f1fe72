// Settings: what a case says, one by one, made from the contracts. Bugs live where two stand together that nobody put
// together, so a campaign counts pairs of them.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// A kind of layer, loss or recipe section, "optimizer adam"; a value of an option of it, "optimizer adam, beta1 = 0";
/// a word or flag of execution.ranks, "ranks, sharding = parameters"; how items are weighed, "normalisation, sum".
struct CaseSetting {
  std::string section, kind;  // "layer", "rms_norm"; "ranks", "reduce.divide"
  std::string option = {};    // empty: the kind itself
  OptionValue value = false;  // of the option, or of the key of ranks
  std::string name = {};

  bool is_option() const { return !option.empty(); }
};

/// All of them, kinds and words first, in the order of sections and contracts.
const std::vector<CaseSetting>& settings();

/// Places in settings() of what a case says: of its ranks only what several ranks, or stages, follow.
std::set<std::size_t> settings_of(const Case& c);

/// Whether two, by their places, are worth asking for together: not two options, two of one slot, or one kind's.
bool make_a_pair(std::size_t a, std::size_t b);

}  // namespace tally
