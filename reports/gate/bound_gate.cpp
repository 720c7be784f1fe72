#include "reports/gate/rules.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using Kind = GateFinding::Kind;

void hold_cases(const Results& results, Findings& out) {
  for (const CaseRecord& c : results.cases) {
    const std::string place = place_of(c.law, c.precision) + " [c-" + c.id + "]";
    const bool inside = c.status != Status::pass || c.worst_local_ratio <= 1;  // NaN is not inside
    if (is_broken(c.status)) {
      const std::string message = c.message.empty() ? std::string(word_of(c.status)) : c.message;
      out.push_back({Kind::failed, "bound", place, message + "; " + c.title, c.law});
    } else if (!inside) {
      out.push_back({Kind::failed, "bound", place, "called a pass with r = " + shortest(c.worst_local_ratio), c.law});
    }
  }
}

}  // namespace

std::string place_of(const std::string& law, const std::string& precision) { return law + ", " + precision; }

void bound_gate(const Results& results, Findings& out) {
  hold_cases(results, out);
  for (const TrainingRecord& t : results.training)
    if (is_broken(t.status))
      out.push_back({Kind::failed, "bound", t.dataset + ", " + t.model + ", " + t.precision + ", " + t.cut, t.message,
                     "training"});
  for (const LawRecord& law : results.laws) {
    if (control_is_missing(law))
      out.push_back({Kind::failed, "bound", law.name, "its control does not differ", "control"});
    else if (is_broken(law.status))
      out.push_back({Kind::failed, "bound", law.name, law.message.empty() ? "the law failed" : law.message, "law"});
  }
}

}  // namespace tally
