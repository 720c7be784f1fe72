#include "properties/laws/without_suspects.hpp"

#include <utility>

namespace tally {
namespace {

thread_local bool asks = true;

}  // namespace

WithoutSuspects::WithoutSuspects() : before_(std::exchange(asks, false)) {}
WithoutSuspects::~WithoutSuspects() { asks = before_; }
bool asks_suspects() { return asks; }

}  // namespace tally
