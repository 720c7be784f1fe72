// What a sweep demands of its own numbers.
#pragma once

#include <string>
#include <utility>

#include "reports/record/study.hpp"

namespace tally {

/// Fails the study unless `holds`; the first sentence stays.
inline void demand(Study& study, bool holds, std::string sentence) {
  if (holds || study.status == Status::fail) return;
  study.status = Status::fail;
  study.message = std::move(sentence);
}

}  // namespace tally
