// Triggers, and the launch paths, options and sizes among them.
#include "reports/record/triggers.hpp"

#include <algorithm>
#include <stdexcept>

#include "reports/record/record_kinds.hpp"

namespace tally {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::size_t digit_at(const std::string& pairs, std::size_t place) {
  if (place >= pairs.size()) return 0;
  const std::size_t digit = digits.find(pairs[place]);
  if (digit == std::string_view::npos) throw std::runtime_error("triggers: '" + pairs + "' is not hexadecimal");
  return digit;
}

void set_digit(std::string& pairs, std::size_t place, std::size_t digit) {
  if (place >= pairs.size()) pairs.resize(place + 1, '0');
  pairs[place] = digits[digit];
}

}  // namespace

bool was_seen_with(const TriggerRecord& trigger, std::size_t other) {
  return (digit_at(trigger.pairs, other / 4) >> (other % 4) & 1) != 0;
}

void see_with(TriggerRecord& trigger, std::size_t other) {
  set_digit(trigger.pairs, other / 4, digit_at(trigger.pairs, other / 4) | std::size_t{1} << (other % 4));
}

void merge_triggers(std::vector<TriggerRecord>& whole, const std::vector<TriggerRecord>& part) {
  if (part.empty()) return;
  if (whole.empty()) {
    whole = part;
    return;
  }
  const auto same = [](const TriggerRecord& a, const TriggerRecord& b) { return a.name == b.name && a.kind == b.kind; };
  if (!std::equal(whole.begin(), whole.end(), part.begin(), part.end(), same))
    throw std::runtime_error("the parts know different triggers");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i].seen += part[i].seen;
    for (std::size_t place = 0; place < part[i].pairs.size(); ++place)
      set_digit(whole[i].pairs, place, digit_at(whole[i].pairs, place) | digit_at(part[i].pairs, place));
  }
}

namespace {

/// "130 of 131 launch paths ran"; empty where there is none of this kind.
std::string sentence_of(const std::vector<TriggerRecord>& triggers, std::string_view kind, const std::string& words) {
  std::uint64_t all = 0, seen = 0;
  for (const TriggerRecord& trigger : triggers)
    all += trigger.kind == kind, seen += trigger.kind == kind && trigger.seen;
  return all == 0 ? "" : "; " + std::to_string(seen) + " of " + std::to_string(all) + " " + words;
}

/// "; 12 of all these were shown by fewer than 5 cases".
std::string sentence_of_few(const std::vector<TriggerRecord>& triggers) {
  const auto few = std::count_if(triggers.begin(), triggers.end(), is_seen_by_few);
  if (few == 0) return "";
  return "; " + std::to_string(few) + " of all these were shown by fewer than " + std::to_string(few_cases) + " cases";
}

bool is_a_trigger(const TriggerRecord& record) {
  return record.kind != trigger_kind::setting && record.kind != trigger_kind::option &&
         record.kind != trigger_kind::size && record.kind != trigger_kind::path;
}

}  // namespace

bool is_unreached(const TriggerRecord& trigger) { return trigger.kind != trigger_kind::later && trigger.seen == 0; }
bool is_seen_by_few(const TriggerRecord& trigger) {
  return trigger.kind != trigger_kind::later && trigger.seen > 0 && trigger.seen < few_cases;
}

TriggerTotals trigger_totals(const std::vector<TriggerRecord>& triggers) {
  TriggerTotals totals;
  for (const TriggerRecord& trigger : triggers) {
    totals.later += trigger.kind == trigger_kind::later;
    totals.expected += trigger.kind != trigger_kind::later;
    totals.unreached += is_unreached(trigger);
  }
  return totals;
}

std::string trigger_sentence(const std::vector<TriggerRecord>& triggers) {
  if (triggers.empty()) return "";
  std::vector<TriggerRecord> own;
  std::copy_if(triggers.begin(), triggers.end(), std::back_inserter(own), is_a_trigger);
  const TriggerTotals totals = trigger_totals(own);
  return std::to_string(totals.expected - totals.unreached) + " of " + std::to_string(totals.expected) +
         " triggers were reached" + sentence_of(triggers, "setting", "kinds and words were drawn") +
         sentence_of(triggers, "option", "values of options were drawn") +
         sentence_of(triggers, "size", "sizes around edges were drawn") +
         sentence_of(triggers, "path", "launch paths ran") + sentence_of_few(triggers);
}

std::string pairs_sentence(const PairsRecord& pairs) {
  const std::uint64_t possible = pairs.seen + pairs.unseen.size();
  if (possible + pairs.refused == 0) return "";
  return std::to_string(pairs.seen) + " of " + std::to_string(possible) +
         " pairs of settings stood together, rules keep " + std::to_string(pairs.refused) + " more apart";
}

namespace {

bool is_path(const TriggerRecord& record) {
  const bool of_kernel = record.group.find('/') != std::string::npos && record.name.starts_with(record.group);
  return record.kind == trigger_kind::path || (record.kind == trigger_kind::later && of_kernel);
}

struct Parts {
  std::string group, name, item;
};

/// "relu.forward/grid_stride, fp32: one block, full"; no precision where the kernel knows none.
Parts parts_of_path(const TriggerRecord& record) {
  const std::string rest = record.name.substr(record.group.size());
  const std::size_t colon = std::min(rest.find(": "), rest.size());
  const std::string precision = colon < 2 ? "" : rest.substr(2, colon - 2);
  return {record.group, precision, colon == rest.size() ? rest : rest.substr(colon + 2)};
}

/// "optimizer adam, beta1 = 0.9".
Parts parts_of_option(const TriggerRecord& record) {
  const std::size_t comma = std::min(record.name.find(", "), record.name.size());
  const std::string rest = comma == record.name.size() ? "" : record.name.substr(comma + 2);
  const std::size_t equals = std::min(rest.find(" = "), rest.size());
  return {record.name.substr(0, comma), rest.substr(0, equals), equals == rest.size() ? "" : rest.substr(equals + 3)};
}

/// "keys of a sequence = 17".
Parts parts_of_size(const TriggerRecord& record) {
  const std::size_t equals = std::min(record.name.find(" = "), record.name.size());
  std::string value = equals == record.name.size() ? "" : record.name.substr(equals + 3);
  if (!record.description.empty()) value += " [" + record.description + "]";
  return {record.group, record.name.substr(0, equals), value};
}

Parts parts_of(const TriggerRecord& record, std::string_view kind) {
  if (kind == trigger_kind::setting) return {record.group, "", record.name};
  return kind == trigger_kind::path   ? parts_of_path(record)
         : kind == trigger_kind::size ? parts_of_size(record)
                                      : parts_of_option(record);
}

}  // namespace

bool is_made_from_the_program(const TriggerRecord& record) {
  return record.kind == trigger_kind::setting || record.kind == trigger_kind::option ||
         record.kind == trigger_kind::size || is_path(record);
}

std::size_t ReachedRow::wanted() const {
  return static_cast<std::size_t>(
      std::count_if(items.begin(), items.end(), [](const Item& item) { return item.out_of_reach.empty(); }));
}

std::size_t ReachedRow::seen() const {
  return static_cast<std::size_t>(std::count_if(
      items.begin(), items.end(), [](const Item& item) { return item.out_of_reach.empty() && item.seen > 0; }));
}

std::vector<ReachedRow> reached_rows(const std::vector<TriggerRecord>& records, std::string_view kind) {
  std::vector<ReachedRow> rows;
  for (const TriggerRecord& record : records) {
    if (kind == trigger_kind::path ? !is_path(record) : record.kind != kind) continue;
    const Parts parts = parts_of(record, kind);
    if (rows.empty() || rows.back().group != parts.group || rows.back().name != parts.name)
      rows.push_back({parts.group, parts.name, {}});
    rows.back().items.push_back(
        {parts.item, record.seen, record.kind == trigger_kind::later ? record.description : ""});
  }
  return rows;
}

}  // namespace tally
