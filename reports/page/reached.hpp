// What the triggers' section says of launch paths and of options.
#pragma once

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

void reached_tables(Markup& page, const Results& results);

}  // namespace tally
