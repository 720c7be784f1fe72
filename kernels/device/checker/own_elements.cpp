#include "kernels/device/checker/own_elements.hpp"

#include <bit>

namespace tally::checker {
namespace {

std::uint32_t element_bytes(const OwnElements& own) { return static_cast<std::uint32_t>(own.launch); }

bool fits(const OwnElements& own, std::uintptr_t address, std::size_t bytes) {
  return address >= own.begin && address - own.begin + bytes <= own.bytes && std::has_single_bit(bytes) && bytes >= 2 &&
         bytes <= 16 && (address - own.begin) % bytes == 0;
}

/// Whose the element that begins `inside` the buffer is.
std::uint64_t position_of(const OwnElements& own, std::uintptr_t inside) {
  const auto all = static_cast<std::int64_t>(running.blocks) * running.threads;
  const auto distance = static_cast<std::int64_t>(inside - own.shift) / static_cast<std::int64_t>(element_bytes(own));
  return static_cast<std::uint64_t>((distance % all + all) % all);
}

Stamp stamp_of(std::uint64_t position, std::uint64_t note) {
  return {.block = static_cast<std::uint32_t>(running.first_block + position / running.threads),
          .epoch = 0,
          .who = fresh_who(static_cast<unsigned>(position % running.threads)),
          .code = static_cast<std::uint32_t>(note)};
}

/// What was noted in this launch, into the cells. Anything older there is ordered before it.
void into_cells(const OwnElements& own, Shadowed& buffer) {
  const auto shift = static_cast<unsigned>(std::countr_zero(element_bytes(own)));
  if (shift < buffer.shift) split_cells(buffer, shift, buffer.bytes);
  const std::size_t cells_each = std::size_t{1} << (shift - buffer.shift);
  for (std::size_t i = 0; i < own.bytes >> shift; ++i) {
    const bool read = own.reads[i] >> 32 == running.first_block, written = own.writes[i] >> 32 == running.first_block;
    if (!read && !written) continue;
    const std::uint64_t position = position_of(own, i << shift);
    for (std::size_t part = 0; part < cells_each; ++part) {
      Cell& cell = buffer.cells[i * cells_each + part];
      if (read) cell.read[0] = stamp_of(position, own.reads[i]);
      if (written) cell.write = stamp_of(position, own.writes[i]);
    }
  }
}

}  // namespace

bool begin_noting(Access access, std::uintptr_t address, std::size_t bytes, std::uint32_t code) {
  const std::uint32_t entry = owners[(address - memory.begin) / line_bytes];
  OwnElements& own = own_elements[entry];
  const std::uint64_t launch = std::uint64_t{running.first_block} << 32;
  if (entry == 0) return false;
  const bool possible = running.noting != Running::never && access != Access::atomic && fits(own, address, bytes);
  const std::uintptr_t inside = address - own.begin;
  const bool begun = own.launch >> 32 == running.first_block;
  if (possible && !begun) {
    own.launch = launch | bytes;
    own.shift = inside - running.position * bytes;
  }
  if (possible && element_bytes(own) == bytes && position_of(own, inside) == running.position) {
    (access == Access::read ? own.reads : own.writes)[inside / bytes] = launch | code;
    return true;
  }
  if (begun) into_cells(own, buffers[entry]);
  own.launch = 0;
  own.by_cells = launch;
  return false;
}

}  // namespace tally::checker
