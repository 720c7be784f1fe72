// Which part of a parameter one of several ranks updates, where they share the optimizer's state: buckets are cut into as
// many pieces of one size as there are ranks, padding included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "oracle/case/case.hpp"

namespace tally {

/// Where a parameter's elements lie in their bucket, and how long the chunks are that the bucket is cut into, one a rank.
struct PlaceInBucket {
  std::int64_t first = 0, chunk = 1;
  int chunk_of(std::int64_t element) const { return static_cast<int>((first + element) / chunk); }
};
/// Of a whole case. Throws std::logic_error for a parameter that does not train.
PlaceInBucket place_in_bucket(const Case& whole, const std::string& parameter);

/// Neighbouring elements of a parameter; count 0: none.
struct ShardPiece {
  std::int64_t first = 0, count = 0;
};
ShardPiece piece_of(const Case& whole, const std::string& parameter, std::size_t rank);

/// Whether each rank keeps and moves a part of the optimizer's state, and of the parameters.
bool shards_optimizer(const Case& c);
/// Whether it also keeps that part alone of the sums of gradients, and of the buffers that they are added to.
bool shards_gradients(const Case& c);
/// Whether it keeps that part alone of the parameters as well, which are put together whenever layers read them.
bool shards_parameters(const Case& c);
/// The parameter that a tap holds this rank's piece of; empty for every other tap.
std::string sharded_parameter(const Case& c, const std::string& stage, const std::string& tensor);

}  // namespace tally
