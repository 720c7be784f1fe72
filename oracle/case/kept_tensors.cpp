// What an optimizer keeps beside a parameter, by its contract and by its record, where its step reads whole tensors.
#include "oracle/case/kept_tensors.hpp"

#include "oracle/case/contract.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

bool reads_whole_tensors(const Choice& optimizer) {
  return RegisterKind<WholeTensorStep>::find(optimizer.kind) != nullptr;
}

std::optional<std::vector<std::int64_t>> shape_beside(const StateTensor& state, const Choice& optimizer,
                                                      const std::vector<std::int64_t>& parameter) {
  const WholeTensorStep* step = RegisterKind<WholeTensorStep>::find(optimizer.kind);
  return step == nullptr ? parameter : step->shape(state.name, parameter);
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
