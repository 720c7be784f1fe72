// Results as bytes, from one process of a program to another of the same: members in their order, numbers as they lie in
// memory, before a text or a list how many there are. Nothing that is kept longer is written so: see record.hpp's to_json.
// And parts of one run, joined.
#pragma once

#include <string>
#include <string_view>

#include "reports/record/record.hpp"

namespace tally {

/// What results.json holds, so that to_json(unpacked(packed(r))) is to_json(r).
std::string packed(const Results& results);

/// Throws std::runtime_error where the bytes end too early or too late.
Results unpacked(std::string_view bytes);

/// Adds what a part of the same run found: a piece, a shard, a further round. The laws are to be settled anew.
void add_part(Results& whole, Results part);

}  // namespace tally
