#include "kernels/ranks/mpi_link.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "kernels/ranks/mpi/module.hpp"

namespace tally {
namespace {

using Bytes = std::vector<std::byte>;

/// A message begins with the length of what it is about, and that.
Bytes packed(const std::string& about, std::span<const std::byte> bytes) {
  const std::uint64_t length = about.size();
  Bytes all(sizeof length + about.size() + bytes.size());
  std::memcpy(all.data(), &length, sizeof length);
  std::memcpy(all.data() + sizeof length, about.data(), about.size());
  if (!bytes.empty()) std::memcpy(all.data() + sizeof length + about.size(), bytes.data(), bytes.size());
  return all;
}

/// Test, then give way twenty times, then sleep ever longer: ranks may outnumber the cores.
class Patience {
 public:
  explicit Patience(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool is_over() const { return Clock::now() > end_; }
  void wait() {
    if (turns_++ < yields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min<std::chrono::microseconds>(2 * sleep_, longest);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int yields = 20;
  static constexpr std::chrono::microseconds longest{1000};
  Clock::time_point end_;
  int turns_ = 0;
  std::chrono::microseconds sleep_{20};
};

class ProcessLink : public MpiLink {
 public:
  ProcessLink(const tally_mpi& mpi, double seconds, WaitWatch& watch) : mpi_(mpi), seconds_(seconds), watch_(watch) {}

  int rank() const override { return mpi_.rank; }
  int size() const override { return mpi_.size; }
  std::string library() const override { return mpi_.library; }
  [[noreturn]] void abort(int code) override {
    mpi_.abort(code);
    std::_Exit(code);
  }
  void finish() override { mpi_.finish(); }

  void await(int from, const std::string& about) override {
    const auto& come = messages_[{from, about}];
    for (Patience patience(seconds_); come.empty();)
      if (!take_next(from)) patience.wait();
  }

  void send(int to, const std::string& about, std::span<const std::byte> bytes) override {
    const Bytes all = packed(about, bytes);
    if (mpi_.send(to, all.data(), all.size()) != 0)
      throw BrokenLink("rank " + std::to_string(rank()) + " could not send " + about + " to rank " +
                       std::to_string(to));
  }

  void receive(int from, const std::string& about, std::span<std::byte> bytes) override {
    receive_first(std::span(&from, 1), about, bytes);
  }

  int receive_first(std::span<const int> any_of, const std::string& about, std::span<std::byte> bytes) override {
    const Messages::iterator come = come_first(any_of, about);
    const int from = come->first.first;
    const Bytes message = std::move(come->second.front().bytes);
    come->second.pop_front();
    if (message.size() != bytes.size())
      throw BrokenLink("mismatched: rank " + std::to_string(from) + " sent " + std::to_string(message.size()) +
                       " bytes of " + about + " where rank " + std::to_string(rank()) + " waits for " +
                       std::to_string(bytes.size()));
    if (!message.empty()) std::memcpy(bytes.data(), message.data(), message.size());
    return from;
  }

  bool sum_by_library(std::span<const int> ranks, const std::string& about, Dtype format,
                      std::span<std::byte> numbers) override {
    if (format != Dtype::fp32) return false;  // MPI knows none of 16 bits
    float* const values = reinterpret_cast<float*>(numbers.data());
    const std::string place = "rank " + std::to_string(rank()) + " could not sum " + about;
    if (mpi_.sum(values, numbers.size() / sizeof(float), ranks.data(), ranks.size()) != 0) throw BrokenLink(place);
    const int other = ranks.front() == rank() ? ranks.back() : ranks.front();
    int done = mpi_.summed(values);
    if (done == 0) wait_until([&] { return (done = mpi_.summed(values)) != 0; }, other, about);
    if (done < 0) throw BrokenLink(place);
    return true;
  }

  std::optional<Message> next_message() override {
    int from = anybody;
    auto all = next_bytes(from);
    if (!all) return std::nullopt;
    Message message{from, cut_about(*all), {}};
    message.bytes.assign(reinterpret_cast<const char*>(all->data()), all->size());
    return message;
  }

 private:
  static constexpr int anybody = -1;
  struct Come {
    std::uint64_t number;  // of all that came
    Bytes bytes;
  };
  using Messages = std::map<std::pair<int, std::string>, std::deque<Come>>;

  /// The next message of a rank, where one has come; of anybody's, `from` becomes who it is.
  std::optional<Bytes> next_bytes(int& from) {
    std::size_t count = 0;
    const int come = mpi_.next(&from, &count);
    const std::string whom = from == anybody ? "another rank" : "rank " + std::to_string(from);
    if (come < 0) throw BrokenLink("rank " + std::to_string(rank()) + " lost " + whom);
    if (come == 0) return std::nullopt;
    Bytes all(count);
    if (mpi_.take(all.data(), count) != 0 || count < sizeof(std::uint64_t))
      throw BrokenLink("rank " + std::to_string(rank()) + " could not take a message of " + whom);
    return all;
  }

  /// What a message is about, taken off its bytes.
  static std::string cut_about(Bytes& all) {
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), sizeof length);
    std::string about(reinterpret_cast<const char*>(all.data() + sizeof length), length);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sizeof length + length));
    return about;
  }

  /// The messages of the one whose next about this came first, once there is one.
  Messages::iterator come_first(std::span<const int> any_of, const std::string& about) {
    const int expected = any_of.size() == 1 ? any_of.front() : anybody;
    Messages::iterator first = kept_first(any_of, about);
    const auto comes = [&] {
      while (first == messages_.end() && take_next(expected)) first = kept_first(any_of, about);
      return first != messages_.end();
    };
    if (!comes()) wait_until(comes, any_of.front(), about);
    return first;
  }

  /// The first message of those that came; the end where none did.
  Messages::iterator kept_first(std::span<const int> any_of, const std::string& about) {
    Messages::iterator first = messages_.end();
    for (const int from : any_of) {
      const auto kept = messages_.find({from, about});
      if (kept == messages_.end() || kept->second.empty()) continue;
      if (first == messages_.end() || kept->second.front().number < first->second.front().number) first = kept;
    }
    return first;
  }

  /// Asks until the answer is yes, which a rank `from` has yet to bring about.
  template <class Ask>
  void wait_until(Ask ask, int from, const std::string& about) {
    watch_.wait(from, about);
    Patience patience(seconds_);
    bool came = ask();
    for (; !came && !patience.is_over() && !watch_.is_broken(); came = ask()) patience.wait();
    const std::string waited =
        "rank " + std::to_string(rank()) + " waited for " + about + " from rank " + std::to_string(from);
    if (!came && watch_.is_broken()) throw BrokenLink(waited + ", in vain");
    if (!came) throw HungLink(waited + " longer than " + std::to_string(std::lround(seconds_)) + " s");
    watch_.go_on();
  }

  /// Whether a message of that rank had come, which is then kept under what it is about.
  bool take_next(int from) {
    auto all = next_bytes(from);
    if (!all) return false;
    const std::string about = cut_about(*all);
    messages_[{from, about}].push_back({came_++, std::move(*all)});
    return true;
  }

  const tally_mpi& mpi_;
  const double seconds_;
  WaitWatch& watch_;
  Messages messages_;
  std::uint64_t came_ = 0;  // messages
};

class NobodyWatches : public WaitWatch {
 public:
  void wait(int, const std::string&) override {}
  void go_on() override {}
  bool is_broken() const override { return false; }
};

}  // namespace

std::unique_ptr<MpiLink> open_mpi_link(const std::string& module, double seconds) {
  static NobodyWatches nobody;
  return open_mpi_link(module, seconds, nobody);
}

std::unique_ptr<MpiLink> open_mpi_link(const std::string& module, double seconds, WaitWatch& watch) {
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(std::string("MPI cannot be opened: ") + dlerror());
  const auto open = reinterpret_cast<const tally_mpi* (*)()>(dlsym(library, "tally_mpi_open"));
  const tally_mpi* const mpi = open == nullptr ? nullptr : open();
  if (mpi == nullptr) throw std::runtime_error(module + " did not start MPI");
  return std::make_unique<ProcessLink>(*mpi, seconds, watch);
}

}  // namespace tally
