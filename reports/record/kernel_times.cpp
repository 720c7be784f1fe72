#include "reports/record/kernel_times.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace tally {
namespace {

std::string shortest_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

bool number_in(const std::string& text, double& out) {
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, out);
  return problem == std::errc() && stop == end && out >= 0;
}

KernelTime time_of(const std::string& line, const std::string& place) {
  KernelTime time;
  std::string number;
  std::string* const words[] = {&time.law, &time.precision, &time.id, &time.operation, &number};
  std::size_t from = 0, taken = 0;
  for (; taken < std::size(words) && from <= line.size(); ++taken) {
    const std::size_t end = std::min(line.find('\t', from), line.size());
    *words[taken] = line.substr(from, end - from);
    from = end + 1;
  }
  if (taken != std::size(words) || from <= line.size() || !number_in(number, time.seconds))
    throw std::runtime_error(place + ": found '" + line.substr(0, 80) +
                             "', expected law, precision, case, operation and seconds between tabs");
  return time;
}

}  // namespace

void append_kernel_times(const std::filesystem::path& file, const std::string& law, const std::string& precision,
                         const std::string& id, const std::map<std::string, double>& seconds) {
  std::string text;
  for (const auto& [operation, time] : seconds)
    text += law + "\t" + precision + "\t" + id + "\t" + operation + "\t" + shortest_text(time) + "\n";
  const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const ssize_t written = to < 0 ? -1 : write(to, text.data(), text.size());
  const int problem = errno;
  if (to >= 0) close(to);
  if (written != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(problem));
}

std::vector<KernelTime> read_kernel_times(const std::filesystem::path& file) {
  std::vector<KernelTime> times;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);)
    times.push_back(time_of(line, file.string() + ":" + std::to_string(times.size() + 1)));
  return times;
}

}  // namespace tally
