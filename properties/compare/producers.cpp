#include "properties/compare/producers.hpp"

namespace tally {

std::vector<TapName> producers_of(const Case& c, const WindowGraph& graph, const TapName& read) {
  std::vector<TapName> names;
  const Port* port = graph.port(read.stage, read.micro_batch < 0, read.tensor);
  if (port == nullptr) return names;
  for (const Source& source : port->sources)
    for (const NodePlace& place : places_read(c, source, {*stage_called(read.stage), read.window, read.micro_batch}))
      names.push_back({place.window, place.micro_batch, std::string(name_of(place.stage)), source.tensor});
  return names;
}

}  // namespace tally
