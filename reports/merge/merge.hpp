// The results of all shards of a campaign, joined: the bytes that the campaign would have written in one go.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// Results that are no parts of one campaign: what() says which differ, and in what.
struct MixedShards : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `trainings` gives the order of data sets and models. Where a shard is missing the whole is partial, and says which.
/// Throws MixedShards.
Results merged(std::vector<Results> shards, const std::vector<std::pair<std::string, std::string>>& trainings);

}  // namespace tally
