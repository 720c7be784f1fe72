// Launch paths, values of options and sizes among the records of triggers, as tables show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/record/triggers.hpp"

namespace tally {

/// Whether a record is of kind "setting", "option", "size" or "path", or a path that is out of reach: made from the
/// program, not written down by hand.
bool is_made_from_the_program(const TriggerRecord& record);

/// What belongs together in a row: a kernel in one precision, an option, or a size.
struct ReachedRow {
  std::string group;  // "layer_norm.forward/two_pass", "optimizer adam"
  std::string name;   // "fp32", "beta1"
  struct Item {
    std::string name;  // "a warp a row: one block", "0.9"
    std::uint64_t seen = 0;
    std::string out_of_reach;
  };
  std::vector<Item> items;
  std::size_t wanted() const;  // items that are not out of reach
  std::size_t seen() const;    // of those
};

/// The rows of `kind`, "setting", "option", "size" or "path", in the order of the records.
std::vector<ReachedRow> reached_rows(const std::vector<TriggerRecord>& records, std::string_view kind);

}  // namespace tally
