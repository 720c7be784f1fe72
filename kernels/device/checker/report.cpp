// The checker's findings in words, with the lines of the kernel's text.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "kernels/device/checker/access.hpp"
#include "kernels/device/checker/order.hpp"
#include "kernels/device/checker/shadow.hpp"
#include "kernels/device/checker/streams.hpp"
#include "kernels/device/executor/shared_memory.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::checker {
namespace {

/// The lines of a command's output.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string all;
  char part[512];
  while (pipe && std::fgets(part, sizeof part, pipe.get()) != nullptr) all += part;
  return all;
}

std::string found_line(std::uint32_t code) {
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%x", code - 1);  // within the call, not behind it
  const std::string program = "/proc/" + std::to_string(getpid()) + "/exe";
  std::istringstream lines(output_of("addr2line -i -e " + program + " " + hex + " 2>/dev/null"));
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find(" (discriminator"));
    if (const auto up = line.rfind("../"); up != std::string::npos) line.erase(0, up + 3);
    while (line.starts_with("./")) line.erase(0, 2);
    if (line.starts_with("??")) continue;
    if (first.empty()) first = line;
    if (line.find("kernels/device/host/") == std::string::npos && !line.starts_with("/usr/")) return line;
  }
  return first.empty() ? std::string("code at +") + hex : first;
}

}  // namespace

std::string source_line(std::uint32_t code) {
  static thread_local std::map<std::uint32_t, std::string> known;
  const auto [found, fresh] = known.try_emplace(code);
  if (fresh) found->second = found_line(code);
  return found->second;
}

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
