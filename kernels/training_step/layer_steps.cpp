#include <map>

#include "kernels/training_step/run_state.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

std::map<std::string, LayerSteps>& all_steps() {
  static std::map<std::string, LayerSteps> steps;
  return steps;
}

}  // namespace

RegisterLayerSteps::RegisterLayerSteps(const char* kind, LayerSteps steps, std::source_location at) {
  note_registered(at);
  all_steps()[kind] = steps;
}

const LayerSteps& layer_steps(const std::string& kind) {
  const auto place = all_steps().find(kind);
  return place == all_steps().end() ? elementwise_steps : place->second;
}

}  // namespace tally
