#include "kernels/device/checker/report.hpp"

#include <string>

#include "kernels/device/checker/memory.hpp"
#include "kernels/device/checker/order.hpp"
#include "kernels/device/checker/shared_shadow.hpp"
#include "kernels/device/checker/source_line.hpp"
#include "kernels/device/checker/streams.hpp"
#include "kernels/device/executor/shared_memory.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::checker {
namespace {

const char* name_of(Access access) {
  return access == Access::read ? "read" : access == Access::write ? "write" : "atomic";
}

const char* done(Access access) {
  return access == Access::read ? "read" : access == Access::write ? "written" : "changed by an atomic";
}

std::string where(std::uintptr_t address) {
  if (address - shared_shadow.begin < shared_shadow.bytes) return describe_shared(address);
  return describe_memory(address);
}

std::string who(const Stamp& stamp) { return executor::describe_thread(stamp.thread()); }

std::string other_block(const Stamp& stamp) {
  if (stamp.block == running.block) return "";
  return stamp.block < running.first_block ? describe_launch(stamp.block) : " of another block";
}

}  // namespace

void report_race(Access now, std::uintptr_t address, const Stamp& stamp, Access before, const Stamp& other) {
  executor::fail_here(executor::place() + ": RACE (" + name_of(now) + " after " + name_of(before) + ") on " +
                      where(address) + " by " + who(stamp) + " at " + source_line(stamp.code) + ", " + done(before) +
                      " by " + who(other) + other_block(other) + " at " + source_line(other.code));
}

void report_unwritten(Access now, std::uintptr_t address, const Stamp& stamp) {
  executor::fail_here(executor::place() + ": UNINITIALISED " + name_of(now) + " of " + where(address) + " by " +
                      who(stamp) + " at " + source_line(stamp.code));
}

void report_outside(Access now, std::uintptr_t address, std::size_t bytes, const Stamp& stamp) {
  const std::size_t all = bytes_of_buffer(address);
  const std::string size = all == 0 ? "" : ", which has " + std::to_string(all) + " bytes,";
  executor::fail_here(executor::place() + ": OUT OF BOUNDS " + name_of(now) + " of " + std::to_string(bytes) +
                      " bytes of " + where(address) + size + " by " + who(stamp) + " at " + source_line(stamp.code));
}

}  // namespace tally::checker
