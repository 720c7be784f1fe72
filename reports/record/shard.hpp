// Which part of a campaign results are.
#pragma once

#include <string>

namespace tally {

/// "2/4": the second of four.
struct ShardName {
  int index = 1, count = 1;
  std::string selection;  // which laws, precisions and numbers of cases the whole campaign has
  friend bool operator==(const ShardName&, const ShardName&) = default;
};
std::string text_of(const ShardName& shard);
/// Throws std::invalid_argument for anything but "i/n", 1 <= i <= n, or "i/n of …".
ShardName shard_name_of(const std::string& text);

}  // namespace tally
