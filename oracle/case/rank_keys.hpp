// The keys of `execution.ranks`, how ranks work together, and what frameworks choose for them, each under a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"

namespace tally {

// The keys of `execution.ranks`: how ranks work together. One table for reader, writer, rules, schema and generators.

/// A key, in the object of `execution.ranks` that `object` names, or in `execution.ranks` itself.
struct RankKey {
  std::string object;  // "reduce"; empty: none
  Option option;
  /// As Execution::ranks holds it: "reduce.algorithm".
  std::string name() const { return object.empty() ? option.name : object + "." + option.name; }
};
const std::vector<RankKey>& rank_keys();

/// What a key says where it is absent. Throws std::logic_error for one that does not exist.
const OptionValue& standard_rank_option(std::string_view name);
/// The value of a key, its default where the case does not say it. Throws as standard_rank_option does.
const OptionValue& rank_option(const Case& c, std::string_view name);
const OptionValue& rank_option(const Execution& execution, std::string_view name);
const std::string& rank_word(const Case& c, std::string_view name);
const std::string& rank_word(const Execution& execution, std::string_view name);
std::int64_t rank_number(const Case& c, std::string_view name);
bool rank_flag(const Case& c, std::string_view name);
/// The format of what travels to a sum over ranks and of every addition there.
Dtype wire_of(const Case& c);

/// Whether the additions are made in fp32 and their sum is rounded to the wire's format once, at the end.
bool adds_in_fp32(const Case& c);
/// Whether one rank makes all additions of an element, so that no partial sum travels.
bool keeps_partial_sums(const std::string& algorithm);
/// Whether the order of its additions follows from the places of ranks and elements alone.
bool declares_order(const std::string& algorithm);

/// The same case with another value, left out where it is the default.
Case with_rank_option(Case c, const std::string& name, OptionValue value);
/// The same of an execution that says how several ranks work together.
void set_rank_option(Execution& execution, const std::string& name, OptionValue value);

// What frameworks do with several ranks, each under a name: which keys of `execution.ranks` that is, by
// oracle/ranks.md.

struct RankPreset {
  std::string name, what;
  /// Where it was read: the framework's own name of the code.
  std::string source;
  /// Sets sharding, division and the order of buckets, of a case that has them at their defaults.
  void (*apply)(Case& c);
};
const std::vector<RankPreset>& rank_presets();
/// nullptr for a name that none has.
const RankPreset* find_rank_preset(const std::string& name);
/// The case as this framework would run it.
Case as_preset(Case c, const RankPreset& preset);

}  // namespace tally
