// What an optimizer keeps beside a parameter, by the parameter's shape; and whether its step reads whole tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct StateTensor;

/// An optimizer that moves an element by others of its parameter too, as by means along rows. One without this record
/// goes element by element, and each of its state tensors has the parameter's shape. Entered by
/// RegisterKind<WholeTensorStep> (oracle/registered_files.hpp), beside the optimizer's contract.
struct WholeTensorStep {
  /// Of the state tensor of this name; nullopt: beside a parameter of this shape there is none.
  std::optional<std::vector<std::int64_t>> (*shape)(std::string_view state, const std::vector<std::int64_t>& parameter);
};

/// Whether no part of a parameter can be stepped without the rest of it.
bool reads_whole_tensors(const Choice& optimizer);

/// The shape of a state tensor beside a parameter of this shape; nullopt: there is none.
std::optional<std::vector<std::int64_t>> shape_beside(const StateTensor& state, const Choice& optimizer,
                                                      const std::vector<std::int64_t>& parameter);

/// One tensor that the optimizer keeps beside a parameter, in the master format.
struct KeptTensor {
  std::size_t index;  // in state_of(optimizer)
  const StateTensor* of;
  std::string name;  // "exp_avg.fc1.weight"
  std::vector<std::int64_t> shape;
};

/// All of them of a parameter of the case, in the order of state_of(optimizer).
std::vector<KeptTensor> kept_beside(const Case& c, const std::string& parameter);

}  // namespace tally
