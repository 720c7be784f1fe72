#include "kernels/device/executor/concurrent_streams.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "kernels/device/gemm/blas.hpp"
#include "tests/kernels/device/on_executor.hpp"

namespace tally::concurrent_streams_test {
namespace {

using executor::ConcurrentStreams;

/// Appends a digit to what was done so far.
__global__ void note(int* done, int digit) { *done = *done * 10 + digit; }

__global__ void wait_apart() {
  if (threadIdx.x < 7) __syncthreads();
  __syncthreads();
}

struct Streams {
  Device& on = device(ExecutorKind::host);
  Stream first{on}, second{on};
  Event event{on};
  int done = 0;
  void note_on(Stream& stream, int digit) { launch<note>(stream, {1, 1}, &done, digit); }
};

TEST(ConcurrentStreams, WorkAtOnceWithoutAScope) {
  Streams s;
  s.note_on(s.first, 1);
  EXPECT_EQ(s.done, 1);
}

TEST(ConcurrentStreams, KeepWorkUntilItIsWaitedFor) {
  Streams s;
  ConcurrentStreams side_by_side;
  s.note_on(s.first, 1);
  s.note_on(s.second, 2);
  s.note_on(s.second, 3);
  EXPECT_EQ(s.done, 0);
  s.second.synchronize();
  EXPECT_EQ(s.done, 23);
  side_by_side.finish();
  EXPECT_EQ(s.done, 231);
}

TEST(ConcurrentStreams, DoFirstWhatAnEventSays) {
  Streams s;
  ConcurrentStreams side_by_side;
  s.note_on(s.first, 1);
  s.event.record(s.first);
  s.note_on(s.first, 2);
  s.event.wait(s.second);
  s.note_on(s.second, 3);
  s.second.synchronize();
  EXPECT_EQ(s.done, 13);
  s.first.synchronize();
  EXPECT_EQ(s.done, 132);
}

/// The event stands for what it was recorded behind when the wait was asked for, not for a later record.
TEST(ConcurrentStreams, WaitForTheLastRecordBefore) {
  Streams s;
  ConcurrentStreams side_by_side;
  s.event.wait(s.second);  // never recorded: nothing to wait for
  s.note_on(s.first, 1);
  s.event.record(s.first);
  s.event.wait(s.second);
  s.note_on(s.first, 2);
  s.event.record(s.first);
  s.note_on(s.second, 3);
  s.second.synchronize();
  EXPECT_EQ(s.done, 13);
}

TEST(ConcurrentStreams, AreDoneBeforeTheHostTouchesMemory) {
  Streams s;
  ConcurrentStreams side_by_side;
  const Buffer buffer(s.on, "buffer", Dtype::fp32, 1);
  s.note_on(s.first, 1);
  s.note_on(s.second, 2);
  float value = 0;
  s.on.read(buffer.data(), &value, sizeof value);
  EXPECT_EQ(s.done, 12);
  s.note_on(s.second, 3);
  s.on.zero(buffer.data(), buffer.bytes());
  EXPECT_EQ(s.done, 123);
  {
    const Buffer released(s.on, "released", Dtype::fp32, 1);
    s.note_on(s.first, 4);
  }
  EXPECT_EQ(s.done, 1234);
}

TEST(ConcurrentStreams, KeepProductsInTheirStreamsOrder) {
  Streams s;
  ConcurrentStreams side_by_side;
  float in[] = {3, 5}, product = 0;
  gemm(s.first, {.m = 1, .n = 1, .k = 1, .a = &in[0], .b = &in[1], .c = &product});
  EXPECT_EQ(product, 0);
  in[0] = 4;  // read when it is done, not when it is asked for
  s.first.synchronize();
  EXPECT_EQ(product, 20);
}

int done_in_order(const executor::ScheduleSource& order) {
  Streams s;
  ConcurrentStreams side_by_side(order);
  s.note_on(s.first, 1);
  s.event.record(s.first);
  s.note_on(s.first, 2);
  s.event.wait(s.second);
  s.note_on(s.second, 3);
  s.note_on(s.second, 4);
  side_by_side.finish();
  return s.done;
}

TEST(ConcurrentStreams, DrawEveryOrderThatStreamsAndEventsAllow) {
  std::set<int> seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) seen.insert(done_in_order({.seed = seed}));
  EXPECT_EQ(seen, (std::set{1234, 1324, 1342}));
  EXPECT_EQ(done_in_order({}), 1234);
}

TEST(ConcurrentStreams, ReplayARecordedOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<Preemption> recorded;
    const int drawn = done_in_order({.seed = seed, .listed = nullptr, .launch = 0, .recorded = &recorded});
    EXPECT_EQ(done_in_order({.seed = 0, .listed = &recorded}), drawn) << seed;
  }
}

TEST(ConcurrentStreams, ThrowAFindingWhereItsWorkIsWaitedForAndDropTheRest) {
  Streams s;
  ConcurrentStreams side_by_side;
  launch<wait_apart>(s.first, {1, 32});
  s.note_on(s.first, 1);
  EXPECT_THROW(s.first.synchronize(), ExecutorFinding);
  side_by_side.finish();
  EXPECT_EQ(s.done, 0);
  {
    const Buffer released(s.on, "released", Dtype::fp32, 1);
    launch<wait_apart>(s.first, {1, 32});
  }
  EXPECT_THROW(side_by_side.finish(), ExecutorFinding);
}

TEST(ConcurrentStreams, RefuseImpossibleShapesAtOnceAndASecondScope) {
  Streams s;
  const ConcurrentStreams side_by_side;
  EXPECT_THROW(launch<note>(s.first, {1, 2000}, &s.done, 1), std::invalid_argument);
  EXPECT_THROW(ConcurrentStreams(), std::logic_error);
}

}  // namespace
}  // namespace tally::concurrent_streams_test
