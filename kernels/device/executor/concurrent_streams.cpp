// Streams that work side by side on the host, and work that is captured to be done again.
#include "kernels/device/executor/concurrent_streams.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/device/checker/streams.hpp"
#include "kernels/device/executor/schedule.hpp"

namespace tally::executor {
namespace {

struct CapturedLaunch {
  Launch launch;
  std::shared_ptr<const void> arguments;
};

}  // namespace

struct Captured {
  std::vector<std::variant<CapturedLaunch, std::function<void()>>> work;
};

void begin_capture() {
  if (capturing != nullptr) throw std::logic_error("a capture is under way already");
  capturing = new Captured;
}

Captured* end_capture() { return std::exchange(capturing, nullptr); }

void launch_captured(const Captured& captured, const void* stream) {
  for (const auto& piece : captured.work) {
    if (const auto* kept = std::get_if<CapturedLaunch>(&piece)) {
      if (pending_work == nullptr && capturing == nullptr) {
        run(kept->launch);
      } else {
        keep(stream, kept->launch, kept->arguments);
      }
    } else {
      submit(stream, std::get<std::function<void()>>(piece));
    }
  }
}

void release_captured(Captured* captured) noexcept { delete captured; }

void keep_captured(const Launch& launch, std::shared_ptr<const void> arguments) {
  capturing->work.emplace_back(CapturedLaunch{launch, std::move(arguments)});
}

void keep_captured(std::function<void()> work) { capturing->work.emplace_back(std::move(work)); }

void refuse_while_capturing() {
  if (capturing != nullptr)
    throw WaitsWhileCaptured("the host waits, or touches device memory, while work is captured");
}

namespace {

/// Where an event was recorded, in the stream of that number.
struct Mark {
  std::size_t stream = 0;
  bool reached = false;
  checker::StreamClock known;  // once reached
};

struct KeptLaunch {
  Launch launch;
  std::shared_ptr<const void> arguments;
  checker::StreamClock host;  // what the host had waited for
};
struct KeptCall {
  std::function<void()> work;
};
struct Record {
  std::shared_ptr<Mark> mark;
};
struct Wait {
  std::shared_ptr<Mark> mark;
};
using Work = std::variant<KeptLaunch, KeptCall, Record, Wait>;

struct Queue {
  const void* stream = nullptr;
  std::deque<Work> work;
  checker::StreamClock known;  // to its last work done
  std::uint64_t done = 0;
};

}  // namespace

struct HostEvent {
  std::shared_ptr<Mark> last;
};

struct PendingWork {
  explicit PendingWork(const ScheduleSource& source) : order(source) {}

  Choices order;
  std::vector<Queue> queues;
  checker::StreamClock host;  // what it has waited for
  std::exception_ptr failure;

  std::size_t number_of(const void* stream) {
    const auto found = std::ranges::find(queues, stream, &Queue::stream);
    const auto number = static_cast<std::size_t>(found - queues.begin());
    if (found == queues.end()) queues.push_back({.stream = stream, .work = {}, .known = {}});
    return number;
  }

  const Mark* awaited_by(const Queue& queue) const {
    const Wait* wait = std::get_if<Wait>(&queue.work.front());
    return wait != nullptr && !wait->mark->reached ? wait->mark.get() : nullptr;
  }

  /// The stream whose next work brings `wanted` on: itself, or whom it waits for. A mark is always recorded before
  /// someone waits for it, so this ends.
  std::size_t needed_for(std::size_t wanted) const {
    while (const Mark* mark = awaited_by(queues[wanted])) wanted = mark->stream;
    return wanted;
  }

  /// Any stream that could go on.
  std::size_t drawn() {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!queues[i].work.empty() && awaited_by(queues[i]) == nullptr) able.push_back(i);
    }
    return able[able.size() > 1 ? order.pick(able.size()) : 0];
  }

  void do_next(std::size_t number) {
    Queue& queue = queues[number];
    const Work work = std::move(queue.work.front());
    queue.work.pop_front();
    if (const auto* kept = std::get_if<KeptLaunch>(&work)) {
      queue.known.raise(kept->host);
      checker::place_launch(number, queue.done + 1, queue.known, kept->launch.kernel, kept->launch.at);
      run(kept->launch);
    } else if (const auto* call = std::get_if<KeptCall>(&work)) {
      call->work();
    } else if (const auto* record = std::get_if<Record>(&work)) {
      record->mark->known = queue.known;
      record->mark->reached = true;
    } else {
      queue.known.raise(std::get<Wait>(work).mark->known);
    }
    queue.known.raise(number, ++queue.done);
  }

  void throw_failure() {
    if (failure != nullptr) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  void finish(std::size_t wanted) {
    try {
      while (!queues[wanted].work.empty()) do_next(order.free() ? drawn() : needed_for(wanted));
    } catch (...) {
      for (Queue& queue : queues) queue.work.clear();
      throw;
    }
    host.raise(queues[wanted].known);
  }

  void finish_all() {
    for (std::size_t i = 0; i < queues.size(); ++i) finish(i);
    checker::forget_streams();
  }
};

ConcurrentStreams::ConcurrentStreams(const ScheduleSource& order) {
  if (pending_work != nullptr) throw std::logic_error("streams of this thread are concurrent already");
  ScheduleSource numbered = order;
  numbered.launch = 0;
  work_ = std::make_unique<PendingWork>(numbered);
  pending_work = work_.get();
}

ConcurrentStreams::~ConcurrentStreams() {
  pending_work = nullptr;
  checker::forget_streams();
}

void ConcurrentStreams::finish() {
  work_->throw_failure();
  work_->finish_all();
}

HostEvent* create_event() { return new HostEvent; }
void release_event(HostEvent* event) noexcept { delete event; }

void record(HostEvent* event, const void* stream) {
  event->last = nullptr;
  if (pending_work == nullptr) return;
  const std::size_t number = pending_work->number_of(stream);
  event->last = std::make_shared<Mark>(Mark{.stream = number, .reached = false, .known = {}});
  pending_work->queues[number].work.push_back(Record{event->last});
}

void wait(const void* stream, const HostEvent* event) {
  if (pending_work == nullptr || event->last == nullptr) return;
  pending_work->queues[pending_work->number_of(stream)].work.push_back(Wait{event->last});
}

void finish_stream(const void* stream) {
  refuse_while_capturing();
  if (pending_work == nullptr) return;
  pending_work->throw_failure();
  pending_work->finish(pending_work->number_of(stream));
}

void finish_all() {
  refuse_while_capturing();
  if (pending_work != nullptr) pending_work->finish_all();
}

void finish_all_quietly() noexcept {
  if (capturing != nullptr) return;  // memory is released, which is no touch
  try {
    finish_all();
  } catch (...) {
    pending_work->failure = std::current_exception();
  }
}

void submit(const void* stream, std::function<void()> work) {
  if (capturing != nullptr) return keep_captured(std::move(work));
  if (pending_work == nullptr) return work();
  pending_work->queues[pending_work->number_of(stream)].work.push_back(KeptCall{std::move(work)});
}

void keep(const void* stream, const Launch& launch, std::shared_ptr<const void> arguments) {
  check_shape(launch);
  if (capturing != nullptr) return keep_captured(launch, std::move(arguments));
  PendingWork& pending = *pending_work;
  Queue& queue = pending.queues[pending.number_of(stream)];
  queue.work.push_back(KeptLaunch{launch, std::move(arguments), pending.host});
}

}  // namespace tally::executor
