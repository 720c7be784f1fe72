#include "properties/compare/ahead.hpp"

#include "oracle/real/threads_of_rules.hpp"

namespace tally {

int threads_of_a_case() { return oracle::threads_of_rules(); }
void set_threads_of_a_case(int threads) { oracle::set_threads_of_rules(threads); }

}  // namespace tally
