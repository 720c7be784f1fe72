#include "kernels/subjects/plugin/library_step.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "kernels/subjects/plugin/library_run.hpp"
#include "kernels/subjects/process/refused_step.hpp"
#include "kernels/trace/flat_trace.hpp"
#include "oracle/case/case_beside.hpp"
#include "oracle/case/findings.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

void write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(to, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::runtime_error(std::string("cannot be written: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// An open file, closed again.
class Opened {
 public:
  Opened(const std::string& path, int how) : descriptor_(open(path.c_str(), how | O_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
  }
  ~Opened() { close(descriptor_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The next line; false at the end.
bool next_line(int in, std::string& waiting, std::string& line) {
  for (;;) {
    if (const auto end = waiting.find('\n'); end != std::string::npos) {
      line = waiting.substr(0, end);
      waiting.erase(0, end + 1);
      return true;
    }
    char bytes[1 << 14];
    const ssize_t n = read(in, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    waiting.append(bytes, static_cast<std::size_t>(n));
  }
}

std::string text_of(const Json& request, std::string_view key) {
  const Json* found = request.member(key);
  if (found == nullptr) throw std::runtime_error("a request without '" + std::string(key) + "'");
  return found->text;
}

/// The answer to one request.
std::string answered(const StepLibrary& library, const std::string& line) {
  Findings findings;
  const auto request = parse_json(line, findings);
  if (!request || !findings.empty()) throw std::runtime_error("a request that is no JSON");
  const std::string number = text_of(*request, "run"), hash = text_of(*request, "sha256");
  const auto with_reason = [&](const char* key, const std::string& reason) {
    return "{\"" + std::string(key) + "\": " + number + ", \"reason\": " + json_string(reason) + "}";
  };
  std::string text = to_text(*request->member("case"), JsonLayout::compact);
  const Case c = read_case_beside_tensors(text, read_safetensors_file(text_of(*request, "tensors")).tensors);
  try {
    const std::string bytes = flat_bytes_of(run_library(library.step(), c, text, hash));
    write_all(Opened(text_of(*request, "trace"), O_WRONLY | O_TRUNC).descriptor(), bytes);
  } catch (const NotSupported& declined) {
    return with_reason("declined", std::string(declined.what()).substr(std::string(declined_case).size()));
  } catch (const StepFailed& failed) {
    return with_reason("wrong", failed.what());
  }
  return "{\"ran\": " + number + ", \"flat\": true}";
}

}  // namespace

Trace LibraryStep::run(const Case& c) const {
  return run_library(library_.step(), c, write_case_beside_tensors(c), hash_of(c));
}

GuardedProcess::Body library_body(const std::string& path) {
  return [path](int in, int out) {
    std::string waiting, line;
    next_line(in, waiting, line);  // the greeting
    try {
      const StepLibrary library(path);
      write_all(out, "{\"tally_step\": 1, \"name\": " + json_string(library.name()) + "}\n");
      while (next_line(in, waiting, line)) write_all(out, answered(library, line) + "\n");
    } catch (const StepRefused& refused) {
      write_all(out, "{\"refused\": " + json_string(refused.what()) + "}\n");
    }
  };
}

}  // namespace tally
