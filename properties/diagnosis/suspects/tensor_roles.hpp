// What a tap is to its stage, whichever layer or parameter it belongs to: "in.*.weight", "in.momentum.*".
#pragma once

#include <string>
#include <vector>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// The tensor's name with a star for the layer or the parameter. Layers of other kinds have other roles.
std::string role_of(const Case& c, const TapName& name);
/// The numbers of the taps in that role that the failing stage read or left.
std::vector<std::size_t> taps_in_role(const Evidence& evidence, const std::string& role);
/// The tensor in that role for the layer or parameter that `beside` belongs to.
std::string in_role(const Case& c, const std::string& role, const TapName& beside);
/// "weight", "momentum", "d.y".
std::string words_of_role(const std::string& role);

/// The roles of what the failing stage read for the failing tensor, counts left out.
std::vector<std::string> input_roles(const Evidence& evidence);

}  // namespace tally
