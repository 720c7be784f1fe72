#include "properties/studies/language_models/family.hpp"

#include <stdexcept>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<int, LayerFamily>& registry() {
  static std::map<int, LayerFamily> all;
  return all;
}
}  // namespace

RegisterLayerFamily::RegisterLayerFamily(int place, LayerFamily family, std::source_location at) {
  note_registered(at);
  if (!registry().try_emplace(place, std::move(family)).second)
    throw std::logic_error("two kinds of layers have place " + std::to_string(place));
}

const std::vector<LayerFamily>& layer_families() {
  static const std::vector<LayerFamily> all = [] {
    std::vector<LayerFamily> families;
    for (const auto& [place, family] : registry()) families.push_back(family);
    return families;
  }();
  return all;
}

}  // namespace tally
