#include "kernels/training_step/optimizer_steps.hpp"

#include <map>

#include "kernels/training_step/run.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

std::map<std::string, OptimizerSteps>& all_steps() {
  static std::map<std::string, OptimizerSteps> steps;
  return steps;
}

}  // namespace

RegisterOptimizerSteps::RegisterOptimizerSteps(const char* kind, OptimizerSteps steps, std::source_location at) {
  note_registered(at);
  all_steps()[kind] = steps;
}

const OptimizerSteps& optimizer_steps(const std::string& kind) {
  const auto place = all_steps().find(kind);
  if (place == all_steps().end()) throw NotSupported("no kernels take the step of the optimizer '" + kind + "'");
  return place->second;
}

bool has_fused_step(const std::string& kind) { return optimizer_steps(kind).fuse != nullptr; }

}  // namespace tally
