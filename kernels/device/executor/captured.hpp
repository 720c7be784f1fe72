// Inside a capture (kernels/device/device.hpp, CapturedWork) on the host.
#pragma once

#include <functional>
#include <memory>

#include "kernels/device/executor/launch.hpp"

namespace tally::executor {

void keep_captured(const Launch& launch, std::shared_ptr<const void> arguments);
void keep_captured(std::function<void()> work);

/// Throws std::logic_error during a capture: nothing of it has been done yet.
void refuse_while_capturing();

}  // namespace tally::executor
