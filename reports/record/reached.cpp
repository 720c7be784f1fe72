#include "reports/record/reached.hpp"

#include <algorithm>

namespace tally {
namespace {

bool is_path(const TriggerRecord& record) {
  const bool of_kernel = record.group.find('/') != std::string::npos && record.name.starts_with(record.group);
  return record.kind == "path" || (record.kind == "later" && of_kernel);
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
  if (kind == "setting") return {record.group, "", record.name};
  return kind == "path" ? parts_of_path(record) : kind == "size" ? parts_of_size(record) : parts_of_option(record);
}

}  // namespace

bool is_made_from_the_program(const TriggerRecord& record) {
  return record.kind == "setting" || record.kind == "option" || record.kind == "size" || is_path(record);
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
    if (kind == "path" ? !is_path(record) : record.kind != kind) continue;
    const Parts parts = parts_of(record, kind);
    if (rows.empty() || rows.back().group != parts.group || rows.back().name != parts.name)
      rows.push_back({parts.group, parts.name, {}});
    rows.back().items.push_back({parts.item, record.seen, record.kind == "later" ? record.description : ""});
  }
  return rows;
}

}  // namespace tally
