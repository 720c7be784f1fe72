// Failures as GitHub Actions shows them beside a commit.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// "::error title=…::…", one line each, worst first: at most `most` lines, of which the last one then counts those left
/// out, because the rest would be dropped unseen. Empty where nothing failed.
std::string github_annotations(const Results& results, std::size_t most = 10);

}  // namespace tally
