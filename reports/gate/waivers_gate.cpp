#include <algorithm>

#include "reports/gate/rules.hpp"
#include "reports/record/totals.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;

bool fails(const CaseRecord& c) {
  return c.status == Status::fail || c.status == Status::error ||
         (c.status == Status::pass && !(c.worst_local_ratio <= 1));
}

}  // namespace

Results waivers_gate(const Results& results, const GateContext& context, Findings& out) {
  const std::string day = context.today.empty() ? today() : context.today;
  std::vector<const Waiver*> valid;
  for (const Waiver& waiver : context.waivers) {
    const auto covered = static_cast<std::uint64_t>(
        std::count_if(results.cases.begin(), results.cases.end(),
                      [&waiver](const CaseRecord& c) { return fails(c) && waiver.covers(c); }));
    if (waiver.expires < day) {
      out.push_back(
          {Kind::failed, "waivers", waiver.text(), "expired on " + waiver.expires + ": " + waiver.reason, "waiver"});
    } else if (covered == 0) {
      out.push_back(
          {Kind::failed, "waivers", waiver.text(), "nothing that it covers fails any more: take it out", "waiver"});
    } else {
      out.push_back({Kind::told, "waivers", waiver.text(),
                     counted(covered, "failing case") + " until " + waiver.expires + ": " + waiver.reason + " (" +
                         waiver.link + ")",
                     "known"});
      valid.push_back(&waiver);
    }
  }
  Results unwaived = results;
  if (valid.empty()) return unwaived;
  std::erase_if(unwaived.cases, [&valid](const CaseRecord& c) {
    return fails(c) && std::any_of(valid.begin(), valid.end(), [&c](const Waiver* w) { return w->covers(c); });
  });
  settle_laws(unwaived);
  return unwaived;
}

}  // namespace tally
