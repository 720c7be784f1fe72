#include "kernels/device/executor/captured.hpp"

#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/device/executor/concurrent_streams.hpp"

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

}  // namespace tally::executor
