#include "reports/record/tag.hpp"

namespace tally {

std::string tag_of(const CaseRecord& c) { return c.title.find(" ranks, K = ") != std::string::npos ? "ranks" : ""; }

}  // namespace tally
