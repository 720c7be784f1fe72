// Several ranks.
#include "properties/triggers/trigger.hpp"

namespace tally {
namespace {

constexpr const char* alone = "one process trains here: a case has no ranks";

bool one_rank(const Sight&) { return true; }

const RegisterTriggers registered{7,
                                  "ranks",
                                  {{"one rank", TriggerKind::of_case, "", one_rank},
                                   {"two ranks", TriggerKind::later, alone, nullptr},
                                   {"three ranks", TriggerKind::later, alone, nullptr},
                                   {"ranks with unequal items", TriggerKind::later, alone, nullptr},
                                   {"overflow on one rank only", TriggerKind::later, alone, nullptr},
                                   {"optimizer state sharded", TriggerKind::later, alone, nullptr},
                                   {"gradients sharded", TriggerKind::later, alone, nullptr},
                                   {"parameters sharded", TriggerKind::later, alone, nullptr},
                                   {"sharded and replicated mixed", TriggerKind::later, alone, nullptr}}};

}  // namespace
}  // namespace tally
