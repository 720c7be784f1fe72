#include "kernels/ranks/all_reduce.hpp"

#include <deque>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tally {

Addends::Addends(Link& link, Device& on, Add add, std::string about, Dtype format, void* values, std::int64_t elements)
    : link_(link),
      device_(on),
      add_(std::move(add)),
      about_(std::move(about)),
      format_(format),
      values_(values),
      elements_(elements),
      addend_(on, "addend of ranks", format, static_cast<std::size_t>(elements)) {}

BucketStretch Addends::chunk(int number) const {
  const std::int64_t size = elements_ / ranks();
  return {(number % ranks() + ranks()) % ranks() * size, size};
}

void* Addends::address(BucketStretch stretch) const {
  return static_cast<std::byte*>(values_) + static_cast<std::size_t>(stretch.first) * size_of(format_);
}

std::vector<std::byte>& Addends::received(int from, BucketStretch stretch) {
  staged_.resize(static_cast<std::size_t>(stretch.count) * size_of(format_));
  link_.receive(from, about_, staged_);
  return staged_;
}

void Addends::send(int to, BucketStretch stretch) {
  staged_.resize(static_cast<std::size_t>(stretch.count) * size_of(format_));
  device_.read(address(stretch), staged_.data(), staged_.size());
  link_.send(to, about_, staged_);
}

void Addends::receive(int from, BucketStretch stretch) {
  const std::vector<std::byte>& bytes = received(from, stretch);
  device_.write(address(stretch), bytes.data(), bytes.size());
}

void Addends::receive_and_add(int from, BucketStretch stretch) { receive_first_and_add(std::span(&from, 1), stretch); }

int Addends::receive_first_and_add(std::span<const int> from, BucketStretch stretch) {
  staged_.resize(bytes_of(stretch));
  const int first = link_.receive_first(from, about_, staged_);
  device_.write(addend_.data(), staged_.data(), staged_.size());
  add_({format_, address(stretch), addend_.data(), stretch.count});
  return first;
}

void Addends::receive_all_and_add_drawn(BucketStretch stretch) {
  std::deque<Buffer> partial;
  for (int from = 0; from < ranks(); ++from) {
    Buffer& each = partial.emplace_back(device_, "sum of ranks", format_, static_cast<std::size_t>(stretch.count));
    staged_.resize(bytes_of(stretch));
    if (from == rank())
      device_.read(address(stretch), staged_.data(), staged_.size());
    else
      received(from, stretch);
    device_.write(each.data(), staged_.data(), staged_.size());
  }
  for (std::uint64_t left = partial.size(); left > 1; --left) {
    const std::uint64_t to = link_.drawn(left - 1), from = to + 1 + link_.drawn(left - 1 - to);
    add_({format_, partial[to].data(), partial[from].data(), stretch.count});
    partial.erase(partial.begin() + static_cast<std::ptrdiff_t>(from));
  }
  device_.read(partial.front().data(), staged_.data(), staged_.size());
  device_.write(address(stretch), staged_.data(), staged_.size());
}

bool Addends::leaves_sum_to(int root) {
  if (rank() == root) return false;
  send(root, all());
  receive(root, needed(rank()));
  return true;
}

void Addends::hand_out() {
  for (int to = 0; to < ranks(); ++to)
    if (to != rank()) send(to, needed(to));
}

bool Addends::sum_by_library() {
  std::vector<int> everyone(static_cast<std::size_t>(ranks()));
  std::iota(everyone.begin(), everyone.end(), 0);
  staged_.resize(bytes_of(all()));
  device_.read(values_, staged_.data(), staged_.size());
  if (!link_.sum_by_library(everyone, about_, format_, staged_)) return false;
  device_.write(values_, staged_.data(), staged_.size());
  return true;
}

void Addends::add_in_fp32(Convert convert) { convert_ = std::move(convert); }

void Addends::receive_all_and_add(BucketStretch stretch) {
  const Dtype in = convert_ ? Dtype::fp32 : format_;
  const std::size_t width = static_cast<std::size_t>(stretch.count) * size_of(format_);
  std::vector<std::byte> own(width);
  device_.read(address(stretch), own.data(), width);
  Buffer sum(device_, "sum of ranks", in, static_cast<std::size_t>(stretch.count)),
      wide(device_, "addend of ranks", in, static_cast<std::size_t>(stretch.count));
  for (int from = 0; from < ranks(); ++from) {
    const std::vector<std::byte>& bytes = from == rank() ? own : received(from, stretch);
    void* const next = from == 0 ? sum.data() : wide.data();
    device_.write(convert_ ? addend_.data() : next, bytes.data(), width);
    if (convert_) convert_({format_, addend_.data(), in, next, 1, stretch.count});
    if (from > 0) add_({in, sum.data(), wide.data(), stretch.count});
  }
  if (convert_) return convert_({in, sum.data(), format_, address(stretch), 1, stretch.count});
  std::vector<std::byte> all(width);
  device_.read(sum.data(), all.data(), width);
  device_.write(address(stretch), all.data(), width);
}

AllReduce all_reduce(const std::string& algorithm) {
  const AllReduce* const found = RegisterKind<AllReduce>::find(algorithm);
  if (found == nullptr) throw std::logic_error("no file registers the all-reduce " + algorithm);
  return *found;
}

}  // namespace tally
