// Ranks that are processes of their own, joined by MPI.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/ranks/link.hpp"

namespace tally {

struct Message {
  int from = 0;
  std::string about, bytes;
};

/// A rank waited as long as it may. what() says for what, and for whom.
class HungLink : public BrokenLink {
 public:
  using BrokenLink::BrokenLink;
};

/// Is told where a rank stands while it waits for another.
class WaitWatch {
 public:
  virtual ~WaitWatch() = default;
  virtual void wait(int from, const std::string& about) = 0;
  virtual void go_on() = 0;
  /// The group cannot go on, as another rank said: a wait ends.
  virtual bool is_broken() const = 0;
};

/// A link that also says what it is made of, and ends.
class MpiLink : public Link {
 public:
  virtual std::string library() const = 0;  // "Open MPI v4.1.4"
  /// Waits for a message however long it takes, and leaves it to be received.
  virtual void await(int from, const std::string& about) = 0;
  /// Takes a message, of whatever rank and about whatever, where one has come. Not to be mixed with receive().
  virtual std::optional<Message> next_message() = 0;
  /// Ends every rank, with this exit code.
  [[noreturn]] virtual void abort(int code) = 0;
  /// Waits for all ranks; the link is of no more use.
  virtual void finish() = 0;
};

/// The link of this process, in the world that its launcher started. A rank that waits longer than `seconds` throws
/// HungLink. Throws std::runtime_error where the module cannot be opened or MPI does not start.
std::unique_ptr<MpiLink> open_mpi_link(const std::string& module, double seconds, WaitWatch& watch);
/// The same, of which nobody is told.
std::unique_ptr<MpiLink> open_mpi_link(const std::string& module, double seconds);

}  // namespace tally
