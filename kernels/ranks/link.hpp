// One rank's end of a group that trains together: messages between two ranks, which everything else is made of.
// Defined in group_link.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// A group that cannot go on: ranks that wait for each other, or disagree about a message. what() names them.
class BrokenLink : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ranks count from 0. A message is told by who sends it, who receives it, and what it is about; two of one kind arrive
/// in the order they were sent.
class Link {
 public:
  virtual ~Link() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Hands bytes over; returns before they have arrived, and they may change behind it.
  virtual void send(int to, const std::string& about, std::span<const std::byte> bytes) = 0;
  /// Waits for a message of exactly as many bytes. Throws BrokenLink where none can come, and where it is of another
  /// size.
  virtual void receive(int from, const std::string& about, std::span<std::byte> bytes) = 0;
  /// The same of whichever of these ranks, one at least, sent one about this first; returns which.
  virtual int receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) = 0;

  /// These numbers of a format become their sums over these ranks, each of which calls this, in whatever order the
  /// library that joins them adds. False, and nothing done, where none joins them, or it adds no such numbers. Throws
  /// BrokenLink where it cannot.
  virtual bool sum_by_library(std::span<const int>, const std::string& /*about*/, Dtype, std::span<std::byte>) {
    return false;
  }
  /// For what may happen between ranks in any order: a number below `limit`, 0 where nothing is drawn.
  virtual std::uint64_t drawn(std::uint64_t /*limit*/) { return 0; }
};

// Some of the ranks of a link, counted by themselves: those who share one whole, those who keep the same piece of it.

/// The `size` ranks first, first + step, ... of `all`, which has to outlive this object. The rank of `all` is one of them.
class GroupLink : public Link {
 public:
  GroupLink(Link& all, int first, int step, int size);
  int rank() const override { return (all_.rank() - first_) / step_; }
  int size() const override { return size_; }
  /// As Link: messages of two groups are told apart by the ranks between which they go.
  void send(int to, const std::string& about, std::span<const std::byte> bytes) override;
  void receive(int from, const std::string& about, std::span<std::byte> bytes) override;
  int receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) override;
  bool sum_by_library(std::span<const int> ranks, const std::string& about, Dtype format,
                      std::span<std::byte> numbers) override;
  std::uint64_t drawn(std::uint64_t limit) override { return all_.drawn(limit); }

 private:
  std::vector<int> among_all(std::span<const int> ranks) const;

  Link& all_;
  int first_, step_, size_;
};

}  // namespace tally
