// Triggers: what a case must show before a known kind of bug can be seen in it, and how often a campaign drew each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally {

struct TriggerRecord {
  std::string name, group;  // "overflow in the last micro-batch", "loss scale"
  std::string kind;         // "case", "kernel", "run", "setting", "option", "size", "path": a campaign must show it;
                            // "later": not yet, for the reason given
  std::string description;  // when it counts as seen, or why later
  std::uint64_t seen = 0;   // cases that showed it
  std::string pairs;  // hexadecimal: bit b of digit d is set where one run showed it with setting 4 d + b, of those of
                      // kind "setting" or "option" an earlier one
};

bool was_seen_with(const TriggerRecord& trigger, std::size_t other);
void see_with(TriggerRecord& trigger, std::size_t other);

/// Adds counts and pairs of another part of the same campaign; an empty list takes over the other. Throws
/// std::runtime_error where the parts know different triggers.
void merge_triggers(std::vector<TriggerRecord>& whole, const std::vector<TriggerRecord>& part);

struct TriggerTotals {
  std::uint64_t expected = 0, unreached = 0;  // of the kinds that a campaign must show
  std::uint64_t later = 0;
};
TriggerTotals trigger_totals(const std::vector<TriggerRecord>& triggers);

bool is_unreached(const TriggerRecord& trigger);
/// Shown, by so few cases that a bug may not show in them.
inline constexpr std::uint64_t few_cases = 5;
bool is_seen_by_few(const TriggerRecord& trigger);

/// Pairs of settings: those that stood together in some run, those that a rule keeps apart, and the others by name.
struct PairsRecord {
  std::uint64_t seen = 0, refused = 0;
  std::vector<std::string> unseen;  // "layer rms_norm beside ranks, sharding = parameters"
};

/// "71 of 73 triggers were reached; 157 of 157 values of options were drawn"; empty without triggers.
std::string trigger_sentence(const std::vector<TriggerRecord>& triggers);
/// "12,204 of 12,210 pairs of settings stood together, rules keep 2,080 more apart"; empty where none were counted.
std::string pairs_sentence(const PairsRecord& pairs);

}  // namespace tally
