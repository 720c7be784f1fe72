#include "kernels/trace/trace_findings.hpp"

namespace tally {
namespace {

std::string and_more(std::size_t count) { return "and " + std::to_string(count) + " more"; }

}  // namespace

void TraceFindings::add(std::string finding) {
  if (++count_ <= most_named) named_.push_back(std::move(finding));
}

void TraceFindings::require_none() const {
  if (count_ == 0) return;
  std::vector<std::string> further(named_.begin() + 1, named_.end());
  if (count_ > named_.size()) further.push_back(and_more(count_ - named_.size()));
  const std::string line = file_.string() + ": " + named_.front();
  throw InvalidTrace(count_ == 1 ? line : line + " (" + and_more(count_ - 1) + ")", std::move(further));
}

}  // namespace tally
