// How long the kernel operations of a case took. No part of results.json, which holds no clock: a file of its own, one
// line an operation, words between tabs: law, precision, case, operation, seconds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tally {

struct KernelTime {
  std::string law, precision, id, operation;
  double seconds = 0;
};

/// Adds the lines of a case at once, so that processes may share the file. Throws std::runtime_error.
void append_kernel_times(const std::filesystem::path& file, const std::string& law, const std::string& precision,
                         const std::string& id, const std::map<std::string, double>& seconds);

/// Empty where there is no such file. Throws std::runtime_error, with the line, for one that is none of these.
std::vector<KernelTime> read_kernel_times(const std::filesystem::path& file);

}  // namespace tally
