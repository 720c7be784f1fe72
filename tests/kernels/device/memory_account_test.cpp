#include "kernels/device/memory_account.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "kernels/device/device.hpp"

namespace tally::memory_account_test {
namespace {

Device& host() { return device(ExecutorKind::host); }

std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

TEST(MemoryAccount, CountsWhatIsHeldNowAndAtMost) {
  const MemoryAccount account(host(), first_word);
  std::optional<Buffer> a(std::in_place, host(), "left a", Dtype::fp32, 3),
      b(std::in_place, host(), "right", Dtype::u8, 5);
  EXPECT_EQ(account.current(), 17u);

  a.reset();
  EXPECT_EQ(account.current(), 5u);
  const Buffer c(host(), "left c", Dtype::fp16, 4);

  EXPECT_EQ(account.current(), 13u);
  EXPECT_EQ(account.peak(), 17u);
  EXPECT_EQ(account.peaks(), (std::map<std::string, std::size_t>{{"left", 12}, {"right", 5}}));
}

TEST(MemoryAccount, AddsUpBuffersOfOneKindThatLiveAtOnce) {
  const MemoryAccount account(host(), first_word);
  { const Buffer alone(host(), "left", Dtype::u8, 6); }
  { const Buffer one(host(), "left", Dtype::u8, 4), other(host(), "left", Dtype::u8, 5); }

  EXPECT_EQ(account.peaks().at("left"), 9u);
}

TEST(MemoryAccount, LeavesOutWhatWasThereBefore) {
  std::optional<Buffer> before(std::in_place, host(), "before", Dtype::u8, 100);
  const MemoryAccount account(host(), first_word);

  before.reset();

  EXPECT_EQ(account.current(), 0u);
  EXPECT_EQ(account.peak(), 0u);
}

TEST(MemoryAccount, CountsAMovedBufferOnce) {
  const MemoryAccount account(host(), first_word);
  Buffer first(host(), "moved", Dtype::u8, 7);
  { const Buffer second = std::move(first); }

  EXPECT_EQ(account.current(), 0u);
  EXPECT_EQ(account.peak(), 7u);
}

TEST(MemoryAccount, SeveralCountTheSameBuffers) {
  const MemoryAccount outer(host(), first_word);
  const Buffer early(host(), "early", Dtype::u8, 2);
  const MemoryAccount inner(host(), first_word);
  const Buffer late(host(), "late", Dtype::u8, 3);

  EXPECT_EQ(outer.peak(), 5u);
  EXPECT_EQ(inner.peak(), 3u);
}

}  // namespace
}  // namespace tally::memory_account_test
