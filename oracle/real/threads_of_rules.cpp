#include "oracle/real/threads_of_rules.hpp"

#include <algorithm>
#include <atomic>

namespace tally::oracle {
namespace {

std::atomic<int> threads{1};

}  // namespace

int threads_of_rules() { return threads; }
void set_threads_of_rules(int count) { threads = std::max(1, count); }

}  // namespace tally::oracle
