#include "properties/compare/ahead.hpp"

#include <atomic>

namespace tally {
namespace {

std::atomic<int> threads{1};

}  // namespace

int threads_of_a_case() { return threads; }
void set_threads_of_a_case(int wanted) { threads = std::max(1, wanted); }

}  // namespace tally
