// Libraries that are refused at their door: one for each -DODD_…
#include <tally/subject.h>

#include <cstdint>
#include <cstdlib>

namespace {
[[maybe_unused]] std::int32_t run(const tally_run*) { return TALLY_RAN; }
}  // namespace

#if defined(ODD_ABI)
const tally_step step{999, "of another version", nullptr, nullptr, run};
#elif defined(ODD_RUN)
const tally_step step{TALLY_STEP_ABI, "without a run", nullptr, nullptr, nullptr};
#elif defined(ODD_CLAIMS)
const tally_step step{TALLY_STEP_ABI, "with nonsense for claims", "{\"nonsense\": true}", nullptr, run};
#elif defined(ODD_LOAD)
const struct Dies {
  Dies() { std::abort(); }
} dies;
#endif

#if defined(ODD_NULL)
extern "C" const tally_step* tally_step_entry(void) { return nullptr; }
#elif !defined(ODD_SYMBOL)
extern "C" const tally_step* tally_step_entry(void) {
#if defined(ODD_LOAD)
  return nullptr;
#else
  return &step;
#endif
}
#endif
