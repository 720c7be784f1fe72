#include "properties/faults/planted_place.hpp"

namespace tally {

std::size_t drawn(const Run& run, std::string_view word, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const char letter : word) mix(static_cast<unsigned char>(letter));
  for (const std::byte byte : run.c.tensors.at(input_tensor(run.c.model)).bytes)
    mix(std::to_integer<unsigned char>(byte));
  return static_cast<std::size_t>((hash >> 17) % count);
}

Parameter& drawn_parameter(Run& run) {
  if (run.parameters.empty()) throw NotSupported("a rank keeps no piece of a parameter, which the fault would change");
  return run.parameters[drawn(run, "parameter", run.parameters.size())];
}

}  // namespace tally
