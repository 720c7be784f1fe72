#include "kernels/device/checker/source_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

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

}  // namespace tally::checker
