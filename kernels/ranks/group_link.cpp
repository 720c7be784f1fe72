#include "kernels/ranks/group_link.hpp"

namespace tally {

GroupLink::GroupLink(Link& all, int first, int step, int size) : all_(all), first_(first), step_(step), size_(size) {}

void GroupLink::send(int to, const std::string& about, std::span<const std::byte> bytes) {
  all_.send(first_ + to * step_, about, bytes);
}

void GroupLink::receive(int from, const std::string& about, std::span<std::byte> bytes) {
  all_.receive(first_ + from * step_, about, bytes);
}

}  // namespace tally
