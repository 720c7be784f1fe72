#include "kernels/device/guard_zone.hpp"

#include <array>

namespace tally {
namespace {

using Zone = std::array<std::byte, guard_bytes>;

/// 16-bit units 0xff81 ... 0xfffe: NaN as fp16 and bf16, and two of them as fp32.
Zone zone_pattern(std::uint64_t number, bool behind) {
  constexpr std::uint64_t first = 0x81, count = 0x7e;
  Zone zone;
  for (std::size_t i = 0; i < guard_bytes; i += 2) {
    const std::uint64_t mixed = (2 * number + (behind ? 1 : 0)) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
    zone[i] = static_cast<std::byte>(first + (mixed >> 40) % count);
    zone[i + 1] = std::byte{0xff};
  }
  return zone;
}

std::string damage_of(Device& device, const std::byte* zone_at, const Zone& expected, const char* where,
                      const std::string& name, std::size_t bytes, bool behind) {
  Zone found;
  device.read(zone_at, found.data(), guard_bytes);
  std::size_t damaged = 0, nearest = 0;
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    if (found[i] == expected[i]) continue;
    if (damaged++ == 0 || !behind) nearest = behind ? i : guard_bytes - 1 - i;
  }
  if (damaged == 0) return {};
  return "buffer '" + name + "' of " + std::to_string(bytes) + " bytes: " + std::to_string(damaged) +
         " bytes written " + where + ", the nearest " + std::to_string(nearest) + " bytes away\n";
}

}  // namespace

void write_guards(Device& device, std::byte* data, std::size_t bytes, std::uint64_t number) {
  device.write(data - guard_bytes, zone_pattern(number, false).data(), guard_bytes);
  device.write(data + bytes, zone_pattern(number, true).data(), guard_bytes);
}

std::string guard_damage(Device& device, const std::byte* data, std::size_t bytes, std::uint64_t number,
                         const std::string& name) {
  return damage_of(device, data - guard_bytes, zone_pattern(number, false), "before it", name, bytes, false) +
         damage_of(device, data + bytes, zone_pattern(number, true), "behind it", name, bytes, true);
}

}  // namespace tally
