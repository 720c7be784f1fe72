#include <gtest/gtest.h>

#include <future>

#include "properties/campaign/workers.hpp"

namespace tally::watchdog_test {
namespace {

TEST(Watchdog, BarksOnceWhenAWatchTakesTooLong) {
  std::promise<void> barked;
  Watchdog watchdog(0.01, [&] { barked.set_value(); });  // a second bark would throw

  watchdog.start();

  EXPECT_EQ(barked.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Watchdog, IsSilentAfterAWatchThatEndedInTime) {
  std::atomic<int> barks = 0;
  {
    Watchdog watchdog(3600, [&] { ++barks; });
    for (int i = 0; i < 100; ++i) {
      watchdog.start();
      watchdog.stop();
    }
  }
  EXPECT_EQ(barks, 0);
}

}  // namespace
}  // namespace tally::watchdog_test
