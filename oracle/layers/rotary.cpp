#include "oracle/layers/rotary.hpp"

#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

std::vector<Misfit> rotary_sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 1) return {};  // the list of inputs says so itself
  const std::int64_t heads = layer.integer("heads");
  if (features[0] % heads != 0)
    return {{"heads", std::to_string(heads), "a divisor of " + std::to_string(features[0]) + ", the features"}};
  const RotaryPairs pairs(layer, features[0]);
  const std::string size = std::to_string(pairs.size) + ", the features of a head";
  if (pairs.rotated > pairs.size) return {{"dimensions", std::to_string(pairs.rotated), "at most " + size}};
  if (pairs.rotated % 2 != 0)
    return {{"dimensions", std::to_string(pairs.rotated), "an even number, which makes pairs, up to " + size}};
  return {};
}

const RegisterContract registered_rotary{
    {.section = "layer",
     .kind = "rotary",
     .options =
         {{.name = "heads", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
          {.name = "base", .type = OptionType::number, .standard = Decimal{"10000"}, .range = {.above = "0"}},
          {.name = "dimensions", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
          {.name = "pairing",
           .type = OptionType::text,
           .standard = std::string("half"),
           .words = {"half", "interleaved"}}},
     .drawn = false,
     .input_misfits = rotary_sizes,
     .reads_positions = true,
     .definition = "y = x, each head's pairs of features turned by position · base^(-2 i / dimensions)"}};

std::int64_t rotated_of(const Choice& rotary, std::int64_t size) {
  const std::int64_t given = rotary.integer("dimensions");
  return given == 0 ? size : given;
}

}  // namespace

RotaryPairs::RotaryPairs(const Choice& rotary, std::int64_t features)
    : heads(rotary.integer("heads")),
      size(features / heads),
      rotated(rotated_of(rotary, size)),
      interleaved(rotary.text("pairing") == "interleaved") {}

}  // namespace tally
