#include "kernels/ranks/nccl_link.hpp"

#include <nccl.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <vector>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/cuda/library.hpp"

namespace tally {
namespace {

/// What is used of the library, opened at first use.
struct Nccl {
  decltype(&::ncclGetVersion) version;
  decltype(&::ncclGetErrorString) error;
  decltype(&::ncclGetUniqueId) unique_id;
  decltype(&::ncclCommInitRankConfig) init;
  decltype(&::ncclCommGetAsyncError) async_error;
  decltype(&::ncclCommAbort) abort;
  decltype(&::ncclCommDestroy) destroy;
  decltype(&::ncclAllReduce) all_reduce;

  Nccl() {
    void* const library = open_library("nccl", NCCL_MAJOR);
    find(library, "ncclGetVersion", version);
    find(library, "ncclGetErrorString", error);
    find(library, "ncclGetUniqueId", unique_id);
    find(library, "ncclCommInitRankConfig", init);
    find(library, "ncclCommGetAsyncError", async_error);
    find(library, "ncclCommAbort", abort);
    find(library, "ncclCommDestroy", destroy);
    find(library, "ncclAllReduce", all_reduce);
  }
};

const Nccl& nccl() {
  static const Nccl opened;
  return opened;
}

ncclDataType_t type_of_sum(Dtype format) {
  switch (format) {
    case Dtype::fp32:
      return ncclFloat32;
    case Dtype::fp16:
      return ncclFloat16;
    case Dtype::bf16:
      return ncclBfloat16;
    default:
      throw BrokenLink("a sum by NCCL of " + std::string(name_of(format)));
  }
}

/// Waits that end.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool is_over() const { return Clock::now() > end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// Some ranks, as NCCL knows them.
class Communicator {
 public:
  Communicator(const ncclUniqueId& id, int ranks, int own, double seconds) : seconds_(seconds) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    require(nccl().init(&group_, ranks, id, own, &config));
    await();
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Communicator() {
    if (memory_ != nullptr) cudaFree(memory_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    if (group_ != nullptr) nccl().destroy(group_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  void sum(Dtype format, std::span<std::byte> numbers) {
    reserve(numbers.size());
    check_cuda(cudaMemcpyAsync(memory_, numbers.data(), numbers.size(), cudaMemcpyHostToDevice, stream_));
    require(nccl().all_reduce(memory_, memory_, numbers.size() / size_of(format), type_of_sum(format), ncclSum, group_,
                              stream_));
    await();
    check_cuda(cudaMemcpyAsync(numbers.data(), memory_, numbers.size(), cudaMemcpyDeviceToHost, stream_));
    const Deadline end(seconds_);
    for (cudaError_t done = cudaStreamQuery(stream_); done != cudaSuccess; done = cudaStreamQuery(stream_)) {
      if (done != cudaErrorNotReady) check_cuda(done);
      if (end.is_over()) give_up("a sum by NCCL takes longer than it may");
      state();
      sched_yield();
    }
  }

 private:
  void reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    if (memory_ != nullptr) check_cuda(cudaFree(memory_));
    memory_ = nullptr;
    check_cuda(cudaMalloc(&memory_, bytes));
    bytes_ = bytes;
  }

  /// The state of what NCCL does meanwhile; throws where that has failed.
  ncclResult_t state() {
    ncclResult_t now = ncclSuccess;
    require(nccl().async_error(group_, &now));
    require(now);
    return now;
  }

  void await() {
    const Deadline end(seconds_);
    while (state() == ncclInProgress) {
      if (end.is_over()) give_up("NCCL waits for other ranks longer than it may");
      sched_yield();
    }
  }

  void require(ncclResult_t result) {
    if (result != ncclSuccess && result != ncclInProgress) give_up(std::string("NCCL: ") + nccl().error(result));
  }

  [[noreturn]] void give_up(const std::string& why) {
    if (group_ != nullptr) nccl().abort(group_);
    group_ = nullptr;
    throw BrokenLink(why);
  }

  const double seconds_;
  ncclComm_t group_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

class NcclLink : public Link {
 public:
  NcclLink(Link& messages, double seconds) : messages_(messages), seconds_(seconds) {
    nccl();
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) throw DeviceAbsent("no CUDA device for NCCL");
    check_cuda(cudaSetDevice(messages.rank() % devices));
    // From 2.30 on several ranks may share one GPU where they are told so.
    if (messages.size() > devices) setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
  }
  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  void send(int to, const std::string& about, std::span<const std::byte> bytes) override {
    messages_.send(to, about, bytes);
  }
  void receive(int from, const std::string& about, std::span<std::byte> bytes) override {
    messages_.receive(from, about, bytes);
  }
  int receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) override {
    return messages_.receive_first(from, about, bytes);
  }
  bool sum_by_library(std::span<const int> ranks, const std::string& about, Dtype format,
                      std::span<std::byte> numbers) override {
    group_of(ranks, about).sum(format, numbers);
    return true;
  }

 private:
  /// Made once: the first of the ranks hands the others its id.
  Communicator& group_of(std::span<const int> ranks, const std::string& about) {
    const std::vector<int> key(ranks.begin(), ranks.end());
    const auto known = groups_.find(key);
    if (known != groups_.end()) return *known->second;
    ncclUniqueId id;
    const std::string subject = "NCCL's id, " + about;
    if (rank() == key.front()) {
      if (nccl().unique_id(&id) != ncclSuccess) throw BrokenLink("NCCL gives no id");
      for (const int to : key)
        if (to != rank()) send(to, subject, std::as_bytes(std::span(&id, 1)));
    } else {
      receive(key.front(), subject, std::as_writable_bytes(std::span(&id, 1)));
    }
    const auto own = std::ranges::find(key, rank()) - key.begin();
    auto made = std::make_unique<Communicator>(id, static_cast<int>(key.size()), static_cast<int>(own), seconds_);
    return *groups_.emplace(key, std::move(made)).first->second;
  }

  Link& messages_;
  const double seconds_;
  std::map<std::vector<int>, std::unique_ptr<Communicator>> groups_;
};

}  // namespace

std::unique_ptr<Link> open_nccl_link(Link& messages, double seconds) {
  return std::make_unique<NcclLink>(messages, seconds);
}

std::string nccl_version() {
  int version = 0;
  if (nccl().version(&version) != ncclSuccess) throw DeviceAbsent("libnccl.so.2 does not say its version");
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace tally
