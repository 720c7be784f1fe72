#include "kernels/trace/tap_name.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tally::tap_name_test {
namespace {

TEST(TapName, IsWrittenInOneWay) {
  for (const char* name : {"w0/cast/fc1.weight", "w12/m3/loss/loss"}) EXPECT_EQ(tap_name_of(name).text(), name);
  for (const char* name : {"w00/cast/p", "w0/m01/loss/loss", "w0/m00/loss/loss", "w-0/cast/p", "w/cast/p", "w-1/cast/p",
                           "w0/cast/", "w0//p", "cast/p", "w99999999999/cast/p", ""}) {
    EXPECT_FALSE(tap_view_of(name)) << name;
    EXPECT_THROW(tap_name_of(name), std::runtime_error) << name;
  }
}

TEST(TapName, HasItsWordsInTheTextThatItIsReadFrom) {
  const std::string text = "w2/m0/backward/d.fc1.weight";

  const auto name = tap_view_of(text);

  ASSERT_TRUE(name);
  EXPECT_EQ(*name, (TapView{2, 0, "backward", "d.fc1.weight"}));
  EXPECT_EQ(name->tensor.data(), text.data() + text.find("d."));
}

}  // namespace
}  // namespace tally::tap_name_test
