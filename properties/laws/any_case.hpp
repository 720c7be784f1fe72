// Laws that narrow the plans they are drawn from, but can judge any case: a case that breaks one may shrink below what
// the law would draw.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Stands beside the law's own record, in its file.
struct RegisterAnyCase {
  explicit RegisterAnyCase(const std::string& law);
};

/// Whether `holds` of this law may be asked of a case that its `shape` would not give. What the lenses then find in one
/// stage is a failure like any other; a relation between runs need not be.
bool judges_any_case(std::string_view law);

}  // namespace tally
