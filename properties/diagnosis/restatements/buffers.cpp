// Restatements of where the buffers start.
#include <set>

#include "properties/diagnosis/restatement.hpp"

namespace tally::buffers_restatement {
namespace {

Restated started_at(BufferStart start, const std::string& formula) {
  Restated way;
  way.departure.buffer = start;
  way.formula = formula;
  return way;
}

const RegisterRestatement registered_never_cleared{{
    .name = "missing-zero-between-windows",
    .sentence = "the buffer is not cleared between windows, so that the last one leaks into the next",
    .formula = "A_0 = the last window's sum",
    .ways = [](const Case&, const Trace&) -> std::vector<Restated> {
      return {started_at(BufferStart::kept, "A_0 = the last window's sum"),
              started_at(BufferStart::kept_as_stepped, "A_0 = the last window's sum, unscaled and clipped in place")};
    },
}};

/// Parameters whose buffer held something when the second window began.
std::set<std::string> kept_in(const Case& c, const Trace& trace) {
  std::set<std::string> kept;
  for (const std::string& p : parameters_of(c.model)) {
    const Tensor* buffer = trace.find(TapName{1, 0, "accumulate", "in.buffer." + p}.view());
    for (std::size_t i = 0; buffer != nullptr && i < buffer->elements(); ++i)
      if (buffer->value(i) != 0) kept.insert(p);
  }
  return kept;
}

const RegisterRestatement registered_some_never_cleared{{
    .name = "missing-zero-of-some",
    .sentence = "the buffers of some parameters are not cleared between windows",
    .formula = "A_0 = the last window's sum, of these parameters",
    .remedy = "clear the gradients of all parameters behind the step: `model.zero_grad()` where the optimizer holds a "
              "part of them",
    .ways = [](const Case& c, const Trace& trace) -> std::vector<Restated> {
      const std::set<std::string> kept = kept_in(c, trace);
      if (kept.empty() || kept.size() == parameters_of(c.model).size()) return {};
      Restated way;
      way.departure.keeps = [kept](const std::string& p) { return kept.contains(p); };
      way.changed = 2;
      const std::string more = kept.size() > 1 ? " and of " + std::to_string(kept.size() - 1) + " more" : "";
      way.sentence = "the buffer of " + *kept.begin() + more + " is not cleared between windows, the others are";
      return {way};
    },
}};

const RegisterRestatement registered_last_only{{
    .name = "last-only",
    .sentence = "every micro-batch overwrites the buffer, so that only the last one counts",
    .formula = "A = s_k",
    .ways = [](const Case&, const Trace&) -> std::vector<Restated> {
      return {started_at(BufferStart::overwritten, "A = s_k")};
    },
}};

}  // namespace
}  // namespace tally::buffers_restatement
