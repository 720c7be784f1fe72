// The checked device's memory and its shadow.
#include "kernels/device/checker/shadow.hpp"

#include <sys/mman.h>

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "kernels/device/executor/shared_memory.hpp"

namespace tally::checker {

void split_cells(Shadowed& memory, unsigned shift, std::size_t used) {
  const unsigned parts = 1u << (memory.shift - shift);
  for (std::size_t i = ((used - 1) >> memory.shift) + 1; used > 0 && i-- > 0;) {
    const Cell whole = memory.cells[i];
    for (std::size_t part = 0; part < parts; ++part) memory.cells[i * parts + part] = whole;
  }
  memory.shift = shift;
}

namespace {

constexpr std::size_t most_buffers = std::size_t{1} << 16;

struct Allotted {
  std::size_t lines = 0;
  std::string name;
};

struct Memory {
  std::mutex mutex;
  std::byte* base = nullptr;
  Cell* cells = nullptr;                                 // memory_bytes of them
  std::uint64_t *reads = nullptr, *writes = nullptr;     // half as many
  std::size_t lines_used = 0;                            // the first so many were handed out at some time
  std::multimap<std::size_t, std::size_t> free;          // released: lines, first line
  std::vector<Allotted> all = std::vector<Allotted>(1);  // 0 is nobody
  std::vector<std::uint32_t> free_entries;
};

Memory& own_memory() {
  static Memory one;
  return one;
}

/// Zeros, which cost nothing until they are touched.
template <class T>
T* reserve(std::size_t count) {
  void* address =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(address);
}

void reserve_all(Memory& m) {
  m.cells = reserve<Cell>(memory_bytes);
  m.reads = reserve<std::uint64_t>(memory_bytes / 2);
  m.writes = reserve<std::uint64_t>(memory_bytes / 2);
  own_elements = reserve<OwnElements>(most_buffers);
  owners = reserve<std::uint32_t>(memory_bytes / line_bytes);
  m.base = reserve<std::byte>(memory_bytes);
  buffers = reserve<Shadowed>(most_buffers);
  memory = {reinterpret_cast<std::uintptr_t>(m.base), memory_bytes};
}

std::size_t take_lines(Memory& m, std::size_t lines) {
  if (const auto same = m.free.find(lines); same != m.free.end()) {
    const std::size_t first = same->second;
    m.free.erase(same);
    return first;
  }
  if (lines <= memory_bytes / line_bytes - m.lines_used) {
    m.lines_used += lines;
    return m.lines_used - lines;
  }
  const auto larger = m.free.lower_bound(lines);
  if (larger == m.free.end()) throw std::bad_alloc();
  const auto [size, first] = *larger;
  m.free.erase(larger);
  m.free.emplace(size - lines, first + lines);
  return first;
}

std::size_t line_of(const Memory& m, const void* address) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - m.base) / line_bytes;
}

}  // namespace

void* allocate(std::size_t bytes) {
  Memory& m = own_memory();
  const std::lock_guard lock(m.mutex);
  if (m.base == nullptr) reserve_all(m);
  const std::size_t lines = bytes / line_bytes + 1;
  const std::size_t first = take_lines(m, lines);
  std::uint32_t entry = 0;
  if (!m.free_entries.empty()) {
    entry = m.free_entries.back();
    m.free_entries.pop_back();
  } else {
    if (m.all.size() == most_buffers) throw std::bad_alloc();
    entry = static_cast<std::uint32_t>(m.all.size());
    m.all.emplace_back();
  }
  m.all[entry] = {};
  buffers[entry] = {};
  own_elements[entry] = {};
  m.all[entry].lines = lines;
  for (std::size_t i = 0; i < lines; ++i) owners[first + i] = entry;
  return m.base + first * line_bytes;
}

void release(void* address) noexcept {
  Memory& m = own_memory();
  const std::lock_guard lock(m.mutex);
  const std::size_t first = line_of(m, address);
  const std::uint32_t entry = owners[first];
  const std::size_t lines = m.all[entry].lines;
  for (std::size_t i = 0; i < lines; ++i) owners[first + i] = 0;
  m.free.emplace(lines, first);
  m.free_entries.push_back(entry);
}

void note_buffer(const void* data, std::size_t bytes, const std::string& name) {
  Memory& m = own_memory();
  const std::lock_guard lock(m.mutex);
  const std::uint32_t owner = owners[line_of(m, data)];
  const std::size_t first_byte = static_cast<std::size_t>(static_cast<const std::byte*>(data) - m.base);
  buffers[owner] = {reinterpret_cast<std::uintptr_t>(data), bytes, m.cells + first_byte, 2};
  own_elements[owner] = {.begin = reinterpret_cast<std::uintptr_t>(data),
                         .bytes = bytes,
                         .reads = m.reads + first_byte / 2,
                         .writes = m.writes + first_byte / 2};
  m.all[owner].name = name;
}

std::size_t bytes_of_buffer(std::uintptr_t address) {
  const Shadowed* buffer = memory.has(address) ? buffer_near(address) : nullptr;
  return buffer == nullptr ? 0 : buffer->bytes;
}

std::string describe_memory(std::uintptr_t address) {
  Memory& m = own_memory();
  const std::uint32_t entry = memory.has(address) ? owners[(address - memory.begin) / line_bytes] : 0;
  if (entry == 0) return "memory of no buffer";
  const Shadowed& it = buffers[entry];
  const std::string name = "'" + m.all[entry].name + "'";
  if (address < it.begin) return "buffer " + name + "-" + std::to_string(it.begin - address);
  return "buffer " + name + "+" + std::to_string(address - it.begin);
}

namespace {

struct Declared {
  std::size_t begin, bytes;
  const char* name;
};

std::vector<Declared>& declared() {
  static thread_local std::vector<Declared> all;
  return all;
}

Cell* reserve_cells() {
  void* address = mmap(nullptr, executor::shared_memory_limit * sizeof(Cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Cell*>(address);
}

}  // namespace

void begin_shared_shadow() {
  static thread_local Cell* const cells = reserve_cells();
  const executor::SharedMemory& memory = executor::shared_memory;
  const unsigned shift = shared_shadow.cells == nullptr ? 2 : shared_shadow.shift;
  shared_shadow = {reinterpret_cast<std::uintptr_t>(memory.arena), executor::shared_memory_limit, cells, shift};
  declared().clear();
  if (memory.dynamic_bytes > 0) declared().push_back({0, memory.dynamic_bytes, "dynamic"});
}

void note_shared(std::size_t begin, std::size_t bytes, const char* name) { declared().push_back({begin, bytes, name}); }

std::size_t shared_bytes_used() { return executor::shared_memory.used; }

std::string describe_shared(std::uintptr_t address) {
  const std::size_t at = address - shared_shadow.begin;
  for (const Declared& it : declared()) {
    if (at - it.begin < it.bytes) return "shared '" + std::string(it.name) + "'+" + std::to_string(at - it.begin);
  }
  return "shared memory of no name, byte " + std::to_string(at);
}

}  // namespace tally::checker
