// The sum over ranks of a bucket of numbers, left on every rank, or each chunk of it on its own: what every algorithm is
// written over, and the table of them.
// The algorithms register themselves in collectives.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

/// Neighbouring elements of a bucket.
struct BucketStretch {
  std::int64_t first, count;
};

/// One rank's own numbers of a bucket, which an algorithm turns into the sum. Additions are kernels on the rank's
/// device; what travels passes through the host.
class Addends {
 public:
  /// Launches the kernel that adds.
  using Add = std::function<void(const RankSumArguments& arguments)>;
  /// `values` [elements] stand on the device. `about` names the sum in messages: "w0/reduce, bucket 1".
  Addends(Link& link, Device& on, Add add, std::string about, Dtype format, void* values, std::int64_t elements);

  int rank() const { return link_.rank(); }
  int ranks() const { return link_.size(); }
  BucketStretch all() const { return {0, elements_}; }
  /// The elements cut into as many chunks as there are ranks, of one size: their number is a multiple of the ranks'.
  BucketStretch chunk(int number) const;
  /// What a rank needs of the sum: its own chunk once scatter() was called, else all. More may be left there.
  BucketStretch needed(int by) const { return scatters_ ? chunk(by) : all(); }
  bool scatters() const { return scatters_; }
  void scatter() { scatters_ = true; }

  void send(int to, BucketStretch stretch);
  /// values = received.
  void receive(int from, BucketStretch stretch);
  /// values = fl(values + received).
  void receive_and_add(int from, BucketStretch stretch);
  /// values = fl(values + received), from the one of these ranks whose numbers come first. Returns which.
  int receive_first_and_add(std::span<const int> from, BucketStretch stretch);
  /// values = what every rank sends of the stretch and this one has, added in the order of the ranks.
  void receive_all_and_add(BucketStretch stretch);
  /// The same in an order that is drawn: two partial sums are added, then two of those that are left, until one is.
  void receive_all_and_add_drawn(BucketStretch stretch);
  /// Leaves a sum to `root`: every other hands it all numbers and takes what it needs of the sum. True on those.
  bool leaves_sum_to(int root);
  /// Hands every other rank what it needs of the sum, as the rank that made it.
  void hand_out();
  /// All values become the sum as the library that joins the ranks adds it; false where none does, or it adds no such
  /// numbers.
  bool sum_by_library();
  /// From then on receive_all_and_add() adds in fp32 and rounds the sum once. `convert` launches the kernel that stores
  /// numbers in another format.
  using Convert = std::function<void(const RankScaleArguments& arguments)>;
  void add_in_fp32(Convert convert);

 private:
  void* address(BucketStretch stretch) const;
  std::vector<std::byte>& received(int from, BucketStretch stretch);
  std::size_t bytes_of(BucketStretch stretch) const {
    return static_cast<std::size_t>(stretch.count) * size_of(format_);
  }

  Link& link_;
  Device& device_;
  Add add_;
  std::string about_;
  Dtype format_;
  void* values_;
  std::int64_t elements_;
  bool scatters_ = false;
  Convert convert_;  // empty: partial sums are in the format that travels
  std::vector<std::byte> staged_;
  Buffer addend_;
};

/// `const RegisterKind<AllReduce> registered("ring", ring);`
using AllReduce = void (*)(Addends& addends);
/// Throws std::logic_error for an algorithm that no file registers.
AllReduce all_reduce(const std::string& algorithm);

}  // namespace tally
