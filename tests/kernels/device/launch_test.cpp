#include "kernels/device/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "tests/kernels/device/on_executor.hpp"

namespace tally::launch_test {
namespace {

template <bool wait>
__global__ void count_places(int* visits) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if constexpr (wait) __syncthreads();
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  visits[block * threads + thread] += 1;
}

TEST(Launches, VisitEveryThreadOfEveryBlockOnce) {
  const std::vector<int> once(5 * 2 * 3 * 7 * 4 * 3, 1);
  for (const std::uint64_t seed : schedules(5)) {
    std::vector<int> plain(once.size()), waiting(once.size());
    run_on_host<count_places<false>>({{5, 2, 3}, {7, 4, 3}}, seed, plain.data());
    run_on_host<count_places<true>>({{5, 2, 3}, {7, 4, 3}}, seed, waiting.data());
    EXPECT_EQ(plain, once) << "schedule " << seed;
    EXPECT_EQ(waiting, once) << "schedule " << seed;
  }
}

TEST(Launches, TakeTheKernelAsAnArgumentToo) {
  std::vector<int> visits(64);
  Stream stream(device(ExecutorKind::host));

  launch(stream, {2, 32}, count_places<true>, visits.data());

  EXPECT_EQ(visits, std::vector<int>(64, 1));
}

__global__ void note_order(unsigned* order, unsigned* next) { order[(*next)++] = threadIdx.x; }

std::array<unsigned, 64> order_under(std::uint64_t seed) {
  std::array<unsigned, 64> order{};
  unsigned next = 0;
  run_on_host<note_order>({1, 64}, seed, order.data(), &next);
  return order;
}

TEST(Schedules, AreInOrderWithoutASeedAndRepeatWithOne) {
  std::set<std::array<unsigned, 64>> orders;
  for (const std::uint64_t seed : schedules(20)) {
    orders.insert(order_under(seed));
    EXPECT_EQ(order_under(seed), order_under(seed));
  }

  EXPECT_EQ(orders.size(), 21u);
  EXPECT_TRUE(std::ranges::is_sorted(order_under(0)));
}

TEST(Schedules, DifferBetweenTheLaunchesOfAStream) {
  Stream stream(device(ExecutorKind::host));
  stream.set_schedule_seed(1);
  std::array<unsigned, 64> first{}, second{};
  unsigned next = 0;

  launch<note_order>(stream, {1, 64}, first.data(), &next);
  next = 0;
  launch<note_order>(stream, {1, 64}, second.data(), &next);

  EXPECT_NE(first, second);
}

TEST(Launches, RefuseAShapeThatNoDeviceTakes) {
  int visits[1];
  const auto refused = [&](const LaunchShape& shape) {
    EXPECT_THROW(run_on_host<count_places<false>>(shape, 0, visits), std::invalid_argument);
  };

  refused({0, 1});
  refused({1, 0});
  refused({1, 1025});
  refused({1, {1, 1, 65}});
  refused({{1, 65536}, 1});
  refused({1, 1, 232449});
}

__global__ void throw_after_barrier() {
  __syncthreads();
  if (threadIdx.x == 3) throw std::runtime_error("from a kernel");
  __syncthreads();
}

TEST(Launches, GoOnAfterAKernelThrew) {
  for (const std::uint64_t seed : schedules(5)) {
    EXPECT_THROW(run_on_host<throw_after_barrier>({2, 64}, seed), std::runtime_error);
    std::vector<int> visits(64);
    run_on_host<count_places<true>>({1, 64}, seed, visits.data());
    EXPECT_EQ(visits, std::vector<int>(64, 1));
  }
}

}  // namespace
}  // namespace tally::launch_test
