// Ranks in one process, each on a stack of its own, and the bytes that they send each other.
#include "kernels/ranks/fibres.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/executor/schedule.hpp"

namespace tally {
namespace {

// A rank builds its run and reads its kernels' results: more than a thread of a kernel has.
constexpr std::size_t page_bytes = 4096, stack_bytes = std::size_t{1} << 20;

}  // namespace

FibreStack::FibreStack(void (*entry)()) {
  void* memory = mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(memory);
  mprotect(mapping_, page_bytes, PROT_NONE);
  executor::start_context(context, mapping_ + page_bytes, stack_bytes, entry);
}

FibreStack::~FibreStack() { munmap(mapping_, page_bytes + stack_bytes); }

namespace {

thread_local TrafficScope* counting = nullptr;

/// "w0/m1/reduce, bucket 2": "w0/reduce".
std::string stage_of(std::string_view about) {
  about = about.substr(0, about.find(','));
  const std::size_t window = about.find('/'), stage = about.rfind('/');
  if (window == std::string_view::npos) return std::string(about);
  return std::string(about.substr(0, window)) + std::string(about.substr(stage));
}

}  // namespace

TrafficScope::TrafficScope() : outer_(counting) { counting = this; }
TrafficScope::~TrafficScope() { counting = outer_; }

void note_sent(int rank, std::string_view about, std::size_t bytes) {
  if (counting != nullptr) counting->ranks_[rank][stage_of(about)] += bytes;
}

namespace {

class Group;

/// What a rank waits for: of one of these.
struct Awaited {
  std::span<const int> from;
  const std::string& about;
  bool is(int sender, const std::string& subject) const {
    return about == subject && std::ranges::find(from, sender) != from.end();
  }
};

class FibreLink : public Link {
 public:
  FibreLink(Group& group, int rank) : group_(group), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override;
  void send(int to, const std::string& about, std::span<const std::byte> bytes) override;
  void receive(int from, const std::string& about, std::span<std::byte> bytes) override;
  int receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) override;
  std::uint64_t drawn(std::uint64_t limit) override;

 private:
  Group& group_;
  int rank_;
};

thread_local Group* running = nullptr;

class Group {
 public:
  Group(int ranks, std::uint64_t arrival, const std::function<void(Link&)>& work, int stages)
      : work_(work), drawn_(arrival != 0), stages_(stages), choices_(arrival), left_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.emplace_back(*this, rank);
      ready_.insert(rank);
    }
  }

  void run() {
    Group* const outer = std::exchange(running, this);
    while (left_ > 0) {
      if (ready_.empty()) break_off(deadlock(), std::make_exception_ptr(BrokenLink(deadlock())));
      now_ = taken();
      executor::switch_context(home_, rank(now_).stack->context);
      if (!rank(now_).ended) continue;
      rank(now_).stack.reset();
      --left_;
    }
    running = outer;
    if (failure_) std::rethrow_exception(failure_);
  }

  int size() const { return static_cast<int>(ranks_.size()); }
  int now() const { return now_; }

  void post(int from, int to, const std::string& about, std::span<const std::byte> bytes) {
    rank(to).messages[{from, about}].push_back({posted_++, {bytes.begin(), bytes.end()}});
    if (rank(to).awaited && rank(to).awaited->is(from, about)) ready_.insert(to);
  }

  int take(std::span<const int> any_of, int to, const std::string& about, std::span<std::byte> bytes) {
    rank(to).awaited.emplace(Awaited{any_of, about});
    auto first = first_come(any_of, to, about);
    for (; first == rank(to).messages.end() && broken_.empty(); first = first_come(any_of, to, about))
      executor::switch_context(rank(to).stack->context, home_);
    rank(to).awaited.reset();
    if (!broken_.empty()) throw BrokenLink(broken_);
    const int from = first->first.first;
    const std::vector<std::byte> message = std::move(first->second.front().bytes);
    first->second.pop_front();
    if (message.size() != bytes.size())
      throw BrokenLink("mismatched: " + name(from) + " sent " + std::to_string(message.size()) + " bytes of " + about +
                       " where " + name(to) + " waits for " + std::to_string(bytes.size()));
    if (!message.empty()) std::memcpy(bytes.data(), message.data(), message.size());
    return from;
  }

  std::uint64_t drawn(std::uint64_t limit) { return drawn_ ? choices_.below(limit) : 0; }

 private:
  struct Message {
    std::uint64_t number;  // of all that were posted
    std::vector<std::byte> bytes;
  };
  using Messages = std::map<std::pair<int, std::string>, std::deque<Message>>;  // that came: from, about

  struct Rank {
    Rank(Group& group, int number) : link(group, number), stack(std::make_unique<FibreStack>(&Group::enter)) {}
    FibreLink link;
    std::unique_ptr<FibreStack> stack;
    Messages messages;
    std::optional<Awaited> awaited = {};
    bool ended = false;
  };

  std::string name(int number) const {
    const std::string rank = "rank " + std::to_string(number / stages_);
    if (stages_ == 1) return rank;
    return "stage " + std::to_string(number % stages_) + (size() == stages_ ? "" : " of " + rank);
  }

  Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }

  /// The messages of the one who posted his next about this first; the end where none did.
  Messages::iterator first_come(std::span<const int> any_of, int to, const std::string& about) {
    Messages& come = rank(to).messages;
    auto first = come.end();
    for (const int from : any_of) {
      const auto found = come.find({from, about});
      if (found == come.end() || found->second.empty()) continue;
      if (first == come.end() || found->second.front().number < first->second.front().number) first = found;
    }
    return first;
  }

  /// One of the ranks that can go on, taken out of them.
  int taken() {
    const auto pick = drawn_ && ready_.size() > 1 ? choices_.below(ready_.size()) : 0;
    const auto chosen = std::next(ready_.begin(), static_cast<std::ptrdiff_t>(pick));
    const int number = *chosen;
    ready_.erase(chosen);
    return number;
  }

  /// No wait ends well from here on.
  void break_off(std::string why, std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    if (broken_.empty()) broken_ = std::move(why);
    for (int number = 0; number < size(); ++number)
      if (!rank(number).ended && rank(number).awaited) ready_.insert(number);
  }

  /// Who waits for whom, from the first rank that waits on, until one comes again or has ended.
  std::string deadlock() {
    int number = 0;
    while (rank(number).ended) ++number;
    std::string text = "deadlock: " + name(number);
    std::vector<bool> named(ranks_.size());
    while (!rank(number).ended && !named[static_cast<std::size_t>(number)]) {
      named[static_cast<std::size_t>(number)] = true;
      const Awaited& awaited = *rank(number).awaited;
      number = awaited.from.front();
      text += " waits for " + awaited.about + " from " + name(number);
      if (!named[static_cast<std::size_t>(number)]) text += ", which";
    }
    return rank(number).ended ? text + " has ended" : text;
  }

  /// Where every fibre starts.
  static void enter() {
    Group& group = *running;
    executor::SanitizedStack::entered(group.home_.sanitized);
    Rank& own = group.rank(group.now_);
    std::exception_ptr failure;
    try {
      group.work_(own.link);
    } catch (...) {
      failure = std::current_exception();
    }
    own.ended = true;
    if (failure) group.break_off(group.name(own.link.rank()) + " failed", failure);
    failure = nullptr;
    executor::switch_context(own.stack->context, group.home_);
    __builtin_unreachable();
  }

  const std::function<void(Link&)>& work_;
  const bool drawn_;
  const int stages_;
  executor::Schedule choices_;
  int left_;                  // ranks that have not ended
  std::uint64_t posted_ = 0;  // messages
  std::deque<Rank> ranks_;
  std::set<int> ready_;
  executor::Context home_;
  int now_ = 0;
  std::string broken_;  // why no wait can end well any more
  std::exception_ptr failure_;
};

int FibreLink::size() const { return group_.size(); }

void FibreLink::send(int to, const std::string& about, std::span<const std::byte> bytes) {
  note_sent(rank_, about, bytes.size());
  group_.post(rank_, to, about, bytes);
}

void FibreLink::receive(int from, const std::string& about, std::span<std::byte> bytes) {
  group_.take(std::span(&from, 1), rank_, about, bytes);
}

int FibreLink::receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) {
  return group_.take(from, rank_, about, bytes);
}

std::uint64_t FibreLink::drawn(std::uint64_t limit) { return group_.drawn(limit); }

}  // namespace

void run_ranks_on_fibres(int ranks, std::uint64_t arrival, const std::function<void(Link&)>& work, int stages) {
  Group(ranks, arrival, work, stages).run();
}

int running_rank() { return running == nullptr ? 0 : running->now(); }

}  // namespace tally
