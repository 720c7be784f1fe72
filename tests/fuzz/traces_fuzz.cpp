// Any bytes given to `tally check` as a case and its trace: refused with one line, or judged. An input is the case's
// text, a byte of zero, and the trace's file; the trace is taken for one of that case. Mutations keep the file whole
// most of the time, so that they reach what judges.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/judged_capture.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t diagnosed = 16;  // one input of so many

[[noreturn]] void give_up(const std::string& what, const std::string& text) {
  std::cerr << what << ": " << text << "\n";
  std::abort();
}

void expect_one_line(const std::string& message) {
  if (message.empty() || message.find('\n') != std::string::npos) give_up("not one line", message);
}

/// Small enough that a second judges many.
bool is_small(const tally::Case& c) {
  std::int64_t rows = 0, features = c.model.input;
  for (const auto& window : c.windows)
    for (const std::int64_t size : window) rows += size;
  for (std::size_t i = 0; i <= c.model.layers.size() && i < 16; ++i)
    features = std::max(features, tally::features_before(c.model, i));
  return c.model.layers.size() < 16 && rows <= 64 && features <= 64;
}

/// The file in memory, as one of that case.
std::filesystem::path written(const std::string& bytes, const tally::Case& c) {
  tally::TensorFile file = tally::read_safetensors(bytes);
  if (file.metadata.contains("case")) file.metadata["case"] = tally::hash_of(c);
  const auto path = std::filesystem::temp_directory_path() / ("tally-fuzz-" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << tally::write_safetensors(file);
  return path;
}

/// Where the data of the trace begins in the input; 0 where there is none.
std::size_t data_of(const std::uint8_t* data, std::size_t size) {
  const void* zero = std::memchr(data, 0, size);
  if (zero == nullptr) return 0;
  const auto trace = static_cast<std::size_t>(static_cast<const std::uint8_t*>(zero) - data) + 1;
  if (size < trace + length_bytes) return 0;
  std::uint64_t header = 0;
  for (std::size_t i = length_bytes; i-- > 0;) header = header << 8 | data[trace + i];
  const std::size_t rest = size - trace - length_bytes;
  return header < rest ? trace + length_bytes + static_cast<std::size_t>(header) : 0;
}

/// Bits at which a reader of numbers may stumble, at a place where one may begin.
void poison(std::uint8_t* data, std::size_t size, std::mt19937& random) {
  constexpr std::uint64_t hostile[] = {0x7fc00000u,         0x7f800000u,   0xff800000u,         0x7f7fffffu,
                                       0x00000001u,         0x80000000u,   0x7fffffffffffffffu, 0x8000000000000000u,
                                       0xffffffffffffffffu, 0x10000000000u};
  const std::uint64_t bits = hostile[random() % std::size(hostile)];
  const std::size_t width = std::size_t{1} << random() % 4;
  if (size < width) return;
  std::memcpy(data + random() % (size / width) * width, &bits, width);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  std::mt19937 random(seed);
  const std::size_t begin = data_of(data, size);
  if (begin == 0 || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  if (random() % 2 == 0)
    poison(data + begin, size - begin, random);
  else
    LLVMFuzzerMutate(data + begin, size - begin, size - begin);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  if (zero == std::string::npos) return 0;
  tally::Case c;
  tally::Trace trace;
  try {
    c = tally::read_case(input.substr(0, zero));
    if (!is_small(c)) return 0;
    trace = tally::read_trace(written(input.substr(zero + 1), c), c);
  } catch (const std::runtime_error& refusal) {
    expect_one_line(refusal.what());
    return 0;
  }
  try {
    std::optional<tally::NoDiagnosis> quick;  // a diagnosis takes far longer than to judge
    if (std::hash<std::string>()(input) % diagnosed != 0) quick.emplace();
    tally::judged_capture(c, trace);
  } catch (const std::exception& problem) {
    give_up("not judged", problem.what());
  }
  return 0;
}
