#include "kernels/device/checker/cell.hpp"

namespace tally::checker {

void split_cells(Shadowed& memory, unsigned shift, std::size_t used) {
  const unsigned parts = 1u << (memory.shift - shift);
  for (std::size_t i = ((used - 1) >> memory.shift) + 1; used > 0 && i-- > 0;) {
    const Cell whole = memory.cells[i];
    for (std::size_t part = 0; part < parts; ++part) memory.cells[i * parts + part] = whole;
  }
  memory.shift = shift;
}

}  // namespace tally::checker
