#include "reports/record/shard.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace tally {
namespace {

constexpr int most_shards = 10000;

/// The number that the text starts with, taken from it; 0 where there is none.
int number_from(std::string_view& text) {
  int number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return number;
}

}  // namespace

std::string text_of(const ShardName& shard) {
  const std::string text = std::to_string(shard.index) + "/" + std::to_string(shard.count);
  return shard.selection.empty() ? text : text + " of " + shard.selection;
}

ShardName shard_name_of(const std::string& text) {
  std::string_view rest = text;
  ShardName shard;
  shard.index = number_from(rest);
  const bool slash = rest.starts_with("/");
  if (slash) rest.remove_prefix(1);
  shard.count = slash ? number_from(rest) : 0;
  if (rest.starts_with(" of ")) {
    shard.selection = rest.substr(4);
    rest = {};
  }
  if (!rest.empty() || shard.index < 1 || shard.index > shard.count || shard.count > most_shards)
    throw std::invalid_argument("'" + text + "' is no shard; expected i/n, such as 2/4");
  return shard;
}

}  // namespace tally
