#include "oracle/layers/rotary.hpp"

#include "oracle/case/sizes.hpp"
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

template <class Of>
std::vector<std::int64_t> of_rotary(const Case& c, Of of) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (c.model.layers[i].kind == "rotary")
      found.push_back(of(RotaryPairs(c.model.layers[i], features_before(c.model, i))));
  return found;
}
std::vector<std::int64_t> turning(const Case& c) {
  return of_rotary(c, [](const RotaryPairs& pairs) { return pairs.pairs(); });
}
std::vector<std::int64_t> standing_still(const Case& c) {
  return of_rotary(c, [](const RotaryPairs& pairs) { return pairs.size - pairs.rotated; });
}
const RegisterSize registered_pairs{{.name = "pairs of a head that turn", .least = 1, .in = turning}};
const RegisterSize registered_still{{.name = "features of a head that stand still", .in = standing_still}};

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
