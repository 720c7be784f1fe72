#include "properties/faults/tokens/last_position.hpp"

#include <algorithm>
#include <limits>

#include "oracle/layers/contract.hpp"

namespace tally {

std::int64_t last_position(const Run& run) {
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const LayerState& layer : run.layers)
    if (const std::string& length = contract_of("layer", *layer.layer).table_length; !length.empty())
      last = std::min(last, layer.layer->integer(length) - 1);
  return last;
}

}  // namespace tally
