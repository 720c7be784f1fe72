#include "oracle/case/tensors/bytes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/tensors/regular_file.hpp"

namespace tally::bytes_test {
namespace {

using std::filesystem::path;

/// A file in the tests' folder with these bytes, for the length of a test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes) : path_(path(testing::TempDir()) / name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const path& get() const { return path_; }

 private:
  path path_;
};

std::string counting(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

std::shared_ptr<const MappedFile> mapped(const path& file) {
  return mapped_under(file.filename().string(), RegularFile(file));
}

TEST(Bytes, AreThoseOfTheFileUntilTheyAreWritten) {
  const std::string content = counting(10'000);
  const TemporaryFile file("mapped_bytes", content);
  const auto map = mapped(file.get());
  Bytes some(map, 100, 50), same = some;
  EXPECT_EQ(std::as_const(some).data(), map->data() + 100);
  EXPECT_EQ(some.size(), 50u);
  EXPECT_EQ(static_cast<char>(std::as_const(some)[3]), content[103]);
  EXPECT_THROW(some.at(50), std::out_of_range);
  EXPECT_EQ(some, same);
  some[3] = std::byte{static_cast<unsigned char>(~content[103])};
  EXPECT_NE(std::as_const(some).data(), map->data() + 100);
  EXPECT_NE(some, same);
  EXPECT_EQ(static_cast<char>(std::as_const(same)[3]), content[103]);
  EXPECT_EQ(static_cast<char>(map->data()[103]), content[103]);
}

/// Two tensors of bytes, so that the floats between them need not lie on a multiple of their size.
TensorFile some_tensors(std::size_t elements, std::int64_t before) {
  TensorFile content;
  content.tensors["a"] = Tensor(Dtype::u8, {before});
  content.tensors["b"] = Tensor(Dtype::fp32, {static_cast<std::int64_t>(elements)});
  content.tensors["c"] = Tensor(Dtype::i64, {3});
  for (std::size_t i = 0; i < elements; ++i) content.tensors["b"].set(i, static_cast<double>(i) / 8);
  for (std::size_t i = 0; i < 3; ++i) content.tensors["c"].set(i, 1e15 + static_cast<double>(i));
  return content;
}

TEST(Bytes, OfALargeSafetensorsFileAreWhatWasWritten) {
  for (const std::int64_t before : {8, 3}) {
    const TensorFile content = some_tensors(300'000, before);
    const TemporaryFile file("large.safetensors", write_safetensors(content));
    const TensorFile read = read_safetensors_file(file.get());
    EXPECT_TRUE(read.tensors == content.tensors) << before << " bytes before";
    const auto at = reinterpret_cast<std::uintptr_t>(std::as_const(read.tensors.at("b")).bytes.data());
    EXPECT_EQ(at % alignof(float), 0u);
  }
}

/// Bytes of mapped files that this process holds.
std::size_t resident_of_files() {
  std::size_t size = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(MappedFile, GivesPagesBackThatWereRead) {
  constexpr std::size_t bytes = std::size_t{1} << 26;
  const TemporaryFile file("many_pages", counting(bytes));
  const auto map = mapped(file.get());
  const std::size_t before = resident_of_files();
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; i += 512) sum += std::to_integer<unsigned>(map->data()[i]);
  EXPECT_GT(resident_of_files(), before + bytes / 2);
  mapped_bytes_read(bytes);
  EXPECT_LT(resident_of_files(), before + bytes / 2);
  unsigned again = 0;
  for (std::size_t i = 0; i < bytes; i += 512) again += std::to_integer<unsigned>(map->data()[i]);
  EXPECT_EQ(again, sum);
}

TEST(MappedFileDeathTest, EndsWithOneLineThatNamesTheFileThatIsCutShort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFile file("cut_\x1bshort", counting(1 << 20)), other("whole", counting(1 << 20));
  EXPECT_EXIT(
      {
        const auto before = mapped(other.get());
        const auto map = mapped(file.get());
        const auto behind = mapped(other.get());
        std::filesystem::resize_file(file.get(), 0);
        std::exit(static_cast<int>(map->data()[1 << 19]));
      },
      testing::ExitedWithCode(3),
      "^error: cut_.short became shorter while it was read; run again when it is completely written\n$");
}

TEST(MappedFileDeathTest, OfALargeSafetensorsFileNamesIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFile file("cut.safetensors", write_safetensors(some_tensors(300'000, 8)));
  EXPECT_EXIT(
      {
        const TensorFile read = read_safetensors_file(file.get());
        std::filesystem::resize_file(file.get(), 0);
        std::exit(read.tensors.at("b").value(0) == 0 ? 1 : 0);
      },
      testing::ExitedWithCode(3), "cut.safetensors became shorter while it was read");
}

}  // namespace
}  // namespace tally::bytes_test
