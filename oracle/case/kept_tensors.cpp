// What an optimizer keeps beside a parameter, by its contract and by its record, where its step reads whole tensors.
#include "oracle/case/kept_tensors.hpp"

#include <map>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

std::map<std::string, WholeTensorStep, std::less<>>& whole_tensor_steps() {
  static std::map<std::string, WholeTensorStep, std::less<>> all;
  return all;
}

}  // namespace

RegisterWholeTensorStep::RegisterWholeTensorStep(std::string_view optimizer, WholeTensorStep step,
                                                 std::source_location at) {
  note_registered(at);
  if (!whole_tensor_steps().emplace(optimizer, step).second)
    throw std::logic_error("two whole-tensor steps of the optimizer \"" + std::string(optimizer) + "\"");
}

bool reads_whole_tensors(const Choice& optimizer) { return whole_tensor_steps().contains(optimizer.kind); }

std::optional<std::vector<std::int64_t>> shape_beside(const StateTensor& state, const Choice& optimizer,
                                                      const std::vector<std::int64_t>& parameter) {
  const auto found = whole_tensor_steps().find(optimizer.kind);
  return found == whole_tensor_steps().end() ? parameter : found->second.shape(state.name, parameter);
}

std::vector<KeptTensor> kept_beside(const Case& c, const std::string& parameter) {
  std::vector<KeptTensor> kept;
  const auto tensors = state_of(c.recipe.optimizer);
  const std::vector<std::int64_t>& shape = c.tensors.at(parameter).shape;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (auto own = shape_beside(*tensors[i], c.recipe.optimizer, shape))
      kept.push_back({i, tensors[i], tensors[i]->name + "." + parameter, *std::move(own)});
  return kept;
}

}  // namespace tally
