#include "reports/record/totals.hpp"

#include <algorithm>
#include <tuple>

namespace tally {
namespace {

void clear_counts(LawRecord& law) {
  law.cases = law.failed = law.vacuous = law.not_run = 0;
  law.checks = 0;
  law.worst_ratio = 0;
  law.message.clear();
}

void count(LawRecord& law, const CaseRecord& c) {
  ++law.cases;
  law.checks += c.checks;
  law.failed += c.status == Status::fail || c.status == Status::error;
  law.vacuous += c.status == Status::vacuous;
  law.not_run += c.status == Status::not_run;
  law.worst_ratio = std::max({law.worst_ratio, c.worst_local_ratio, c.worst_end_to_end_ratio});
}

void settle(LawRecord& law, bool partial) {
  if (law.cases == 0 || law.not_run == law.cases) {
    law.status = Status::not_run;
  } else if (law.failed > 0) {
    law.status = Status::fail;
  } else if (law.vacuous + law.not_run == law.cases) {
    law.status = Status::vacuous;
  } else if (!law.control_differs && partial) {
    law.status = Status::not_run;
    law.message = "the control has not differed in what ran";
  } else if (!law.control_differs) {
    law.status = Status::fail;
    law.message = "the control never differed: this law could not have failed";
  } else {
    law.status = Status::pass;
  }
}

}  // namespace

void settle_laws(Results& results) {
  std::stable_sort(results.cases.begin(), results.cases.end(), [](const CaseRecord& a, const CaseRecord& b) {
    return std::tie(a.law, a.precision) < std::tie(b.law, b.precision);
  });
  for (LawRecord& law : results.laws) {
    clear_counts(law);
    for (const CaseRecord& c : results.cases) {
      if (c.law == law.name) count(law, c);
    }
    settle(law, results.partial);
  }
}

}  // namespace tally
