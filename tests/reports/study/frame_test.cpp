// How series are told apart.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "reports/html/plot.hpp"

namespace tally::frame_test {
namespace {

std::vector<Look> looks_of_names(const std::vector<std::string>& names) {
  std::vector<StudySeries> series;
  for (const std::string& name : names) series.push_back({name, {}, {}, {}, {}});
  return looks_of(series);
}

TEST(Looks, GiveSeriesOfOneFirstWordOneColour) {
  const auto looks = looks_of_names({"fp32 drift", "fp16 drift", "fp32 bound"});

  EXPECT_STREQ(looks[0].ink.colour, looks[2].ink.colour);
  EXPECT_STRNE(looks[0].ink.colour, looks[1].ink.colour);
  EXPECT_NE(looks[0].dashes, looks[2].dashes);
}

TEST(Looks, TellMoreGroupsThanColoursApart) {
  const auto looks = looks_of_names({"a 1", "a 2", "a 3", "b", "c", "d", "e", "f", "g", "h"});

  std::set<std::tuple<std::string, std::string, bool>> seen;
  for (const Look& look : looks) seen.emplace(look.ink.colour, look.outline({0, 0}), look.filled);
  EXPECT_EQ(seen.size(), looks.size());
}

}  // namespace
}  // namespace tally::frame_test
