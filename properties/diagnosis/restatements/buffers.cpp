// Restatements of where the buffers start.
#include "properties/diagnosis/restatement.hpp"

namespace tally {
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

const RegisterRestatement registered_last_only{{
    .name = "last-only",
    .sentence = "every micro-batch overwrites the buffer, so that only the last one counts",
    .formula = "A = s_k",
    .ways = [](const Case&, const Trace&) -> std::vector<Restated> {
      return {started_at(BufferStart::overwritten, "A = s_k")};
    },
}};

}  // namespace
}  // namespace tally
