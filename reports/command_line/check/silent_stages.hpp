// What a pass does not say: stages whose end-to-end checks are all vacuous.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally::command_line {

/// One line that names the stages of which every end-to-end check of a value that is not exactly zero is vacuous (its
/// bounds exceed its values, or too many decisions behind it are the run's own), with one such tensor; empty
/// where there are none. Such a stage is known only step by step: from what came in, it computed what it should.
std::string silent_stages(const std::vector<TensorCheck>& checks);

}  // namespace tally::command_line
