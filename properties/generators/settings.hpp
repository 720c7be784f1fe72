// Settings: what a case says, one by one, made from the contracts; each put into a plan with what it needs beside it.
// Defined in settings.cpp, put_setting.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// Settings: what a case says, one by one, made from the contracts. Bugs live where two stand together that nobody put
// together, so a campaign counts pairs of them.

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

// Puts a setting into a plan, with what it needs beside it, where the rules allow.

/// A list of numbers as long as there are outputs: the first one and 1 by turns. Any other value, and none, as it is.
OptionValue as_long_as(OptionValue value, std::int64_t outputs);

/// The rule that the plan's case would break, but for those of tensors, which are not drawn yet; nullopt: none.
std::optional<std::string> broken_rule(const Plan& plan);

/// The rule that the plan's case breaks once its ranks say what these settings do, as the plan itself would not.
std::string rule_against(const Plan& plan, const std::vector<std::size_t>& wanted);

/// Makes the plan's case say it, where it does not, and still say those `beside` it; what a place is drawn for follows
/// from the seed. nullopt where it does now; else the plan is as before, and the rule says why.
std::optional<std::string> put(Plan& plan, std::size_t setting, std::uint64_t seed,
                               std::vector<std::size_t> beside = {});

}  // namespace tally
