// The stage left nothing at all. diagnose() names it where a tap that must be there is not: no formula is needed.
#include "properties/diagnosis/suspect.hpp"

namespace tally::stage_not_run_suspect {
namespace {

const RegisterSuspect registered{{
    .name = "stage-not-run",
    .faults = {"decay-not-run", "clip-not-run", "norm-not-run", "unscale-not-run", "optimizer-not-run",
               "schedule-not-run", "scaler-not-run", "cast-not-run", "accumulate-not-run", "backward-not-run",
               "forward-not-run", "loss-not-run", "running-stats-not-run"},
    .stages = {"decay", "clip", "norm", "unscale", "optimizer", "schedule", "scaler", "cast", "accumulate", "backward",
               "forward", "loss", "running_stats"},
    .sentence = "the recipe demands the stage, and it left nothing: it was not run",
    .formula = "no tap of it",
    .remedy = "run it: the recipe states it and the loop does not do it; or state the recipe without it",
    .left = [](const Evidence&, const HeldTensor&) { return std::optional<Values>(); },
}};

}  // namespace
}  // namespace tally::stage_not_run_suspect
