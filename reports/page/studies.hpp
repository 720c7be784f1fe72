// A study inside a run's page: question, answer, where its numbers come from, and the rest folded.
#pragma once

#include <string>

#include "reports/record/study.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// `id` starts the ids of its parts.
void study_part(Markup& page, const Study& study, const std::string& id);

}  // namespace tally
