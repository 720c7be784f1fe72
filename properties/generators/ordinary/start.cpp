#include "properties/generators/ordinary/start.hpp"

#include <stdexcept>

namespace tally {
namespace {

std::string of_linear(const std::string& initialisation, bool weight, std::int64_t features) {
  const std::string fan_in = std::to_string(features);
  if (initialisation == "he") return weight ? "he:" + fan_in : "zeros";
  if (initialisation == "constant") return weight ? "ratio:1:100" : "zeros";
  return "fan_in:" + fan_in;
}

}  // namespace

const std::vector<std::string>& initialisations() {
  static const std::vector<std::string> all{"pytorch", "he", "constant", "near_one"};
  return all;
}

std::string initialisation_of(const Plan& plan) {
  const auto slash = plan.values.find('/');
  return slash == std::string::npos ? "" : plan.values.substr(0, slash);
}

std::string input_of(const Plan& plan) {
  const auto slash = plan.values.find('/');
  return slash == std::string::npos ? plan.values : plan.values.substr(slash + 1);
}

std::string initial_family(const std::string& initialisation, const Layer& layer, const LayerTensor& tensor,
                           std::int64_t features) {
  bool known = false;
  for (const std::string& name : initialisations()) known = known || name == initialisation;
  if (!known) throw std::logic_error("no initialisation " + initialisation);
  if (tensor.name == "running_mean") return "zeros";
  if (tensor.name == "running_var") return "ones";
  const bool weight = tensor.name == "weight";
  if (layer.kind == "linear") return of_linear(initialisation, weight, features);
  if (initialisation == "near_one") return weight ? "positive" : "uniform";
  return weight ? "ones" : "zeros";
}

}  // namespace tally
