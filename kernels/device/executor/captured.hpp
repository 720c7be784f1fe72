// Inside a capture (kernels/device/device.hpp, CapturedWork) on the host.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "kernels/device/executor/launch.hpp"

namespace tally::executor {

void keep_captured(const Launch& launch, std::shared_ptr<const void> arguments);
void keep_captured(std::function<void()> work);

/// The host waits, or touches device memory, while nothing of what it waits for has been done.
struct WaitsWhileCaptured : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws WaitsWhileCaptured during a capture.
void refuse_while_capturing();

}  // namespace tally::executor
