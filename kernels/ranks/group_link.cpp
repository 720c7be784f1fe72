#include "kernels/ranks/link.hpp"

namespace tally {

GroupLink::GroupLink(Link& all, int first, int step, int size) : all_(all), first_(first), step_(step), size_(size) {}

void GroupLink::send(int to, const std::string& about, std::span<const std::byte> bytes) {
  all_.send(first_ + to * step_, about, bytes);
}

void GroupLink::receive(int from, const std::string& about, std::span<std::byte> bytes) {
  all_.receive(first_ + from * step_, about, bytes);
}

int GroupLink::receive_first(std::span<const int> from, const std::string& about, std::span<std::byte> bytes) {
  return (all_.receive_first(among_all(from), about, bytes) - first_) / step_;
}

bool GroupLink::sum_by_library(std::span<const int> ranks, const std::string& about, Dtype format,
                               std::span<std::byte> numbers) {
  return all_.sum_by_library(among_all(ranks), about, format, numbers);
}

std::vector<int> GroupLink::among_all(std::span<const int> ranks) const {
  std::vector<int> all;
  for (const int rank : ranks) all.push_back(first_ + rank * step_);
  return all;
}

}  // namespace tally
