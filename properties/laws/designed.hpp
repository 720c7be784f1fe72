// Laws whose plans are designed one after another, by seed: none of theirs is bred from an earlier one.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Stands beside the law's own record, in its file.
struct RegisterDesigned {
  explicit RegisterDesigned(const std::string& law);
};

bool is_designed(std::string_view law);

}  // namespace tally
