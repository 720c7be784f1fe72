// Some of the ranks of a link, counted by themselves: those who share one whole, those who keep the same piece of it.
// Defined in group_link.cpp.
#pragma once

#include <vector>

#include "kernels/ranks/link.hpp"

namespace tally {

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
