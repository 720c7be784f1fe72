// A child process and what joins it to this one: descriptors, pipes, how it ended. Defined in child_process.cpp.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tally {

/// An open file, or an end of a pipe, that is closed with this object. Below 0: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  operator int() const { return number_; }

 private:
  int number_;
};

/// A pipe that no other program inherits. Throws std::runtime_error, "no pipe for …", where there is none.
struct Pipe {
  explicit Pipe(const std::string& what);
  Descriptor out, in;  // to read from, to write to
};

/// False where not all of it could be written, as errno says.
bool write_all(int to, std::string_view bytes);
/// Appends what there is, if need be after a wait; false at the end.
bool read_some(int from, std::string& bytes);

struct ProcessEnd {
  std::string how;            // "signal 11 (Segmentation fault)", "an exit with code 1"
  bool from_outside = false;  // by a signal that no program sends itself: somebody's kill, or no memory left
};
/// `status` as waitpid tells it.
ProcessEnd end_by(int status);

/// fork() of a child that is sent `with_parent` (0: nothing) when this thread ends, whatever ends it. Throws
/// std::runtime_error, "no process for …", where there is none.
pid_t forked(const std::string& what, int with_parent);
/// Waits for a child's end. nullopt: it is no child of this process, or nobody keeps its status.
std::optional<int> awaited(pid_t child);

/// A child that runs one function and ends with it, or by exit(): without the destructors of the whole program, and
/// without what that has buffered.
class ChildProcess {
 public:
  /// `body` returns the exit code; what it throws aborts the child. Throws as forked() does.
  ChildProcess(const std::string& what, const std::function<int()>& body, int with_parent = SIGKILL);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Sends it `with_parent` and waits for its end, unless this is the copy of a process that was forked.
  ~ChildProcess();

  void tell(int signal) const { kill(pid_, signal); }
  std::optional<int> wait() { return awaited(release()); }
  /// Its number, for whoever waits for it instead.
  pid_t release() { return std::exchange(pid_, 0); }

 private:
  pid_t pid_, owner_;  // pid_ 0: somebody else's
  int with_parent_;
};

}  // namespace tally
