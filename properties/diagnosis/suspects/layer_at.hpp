// The layer that a tensor belongs to, for suspects that compute it otherwise.
#pragma once

#include <optional>
#include <string>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// The index of the layer of this kind (empty: of any) whose label stands in `<before><label><after>`; nullopt where
/// the tensor is named otherwise.
std::optional<std::size_t> layer_at(const Evidence& evidence, const HeldTensor& held, const std::string& before,
                                    const std::string& kind, const std::string& after);

}  // namespace tally
