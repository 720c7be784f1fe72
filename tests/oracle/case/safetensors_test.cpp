#include "oracle/case/file/safetensors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "case_files.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/io.hpp"

namespace tally::safetensors_test {
namespace {

std::string file_of(const std::string& header, const std::string& data, std::uint64_t length = 0) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((length == 0 ? header.size() : length) >> (8 * i) & 0xff);
  return bytes + header + data;
}

TEST(Safetensors, GivesTensorsAndMetadataBack) {
  TensorFile file;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::i64, Dtype::u8}) {
    Tensor tensor(dtype, {2, 3});
    for (std::size_t i = 0; i < 6; ++i) tensor.set(i, static_cast<double>(i));
    file.tensors.emplace(std::string(name_of(dtype)), tensor);
  }
  file.tensors.emplace("scalar", Tensor(Dtype::i64, {}));
  file.tensors.emplace("none", Tensor(Dtype::fp32, {0, 4}));
  file.metadata = {{"tally_trace", "1"}, {"claims", "{\"a\": \"\\\"\"}"}};

  const std::string bytes = write_safetensors(file);
  const TensorFile back = read_safetensors(bytes);

  EXPECT_EQ(back.tensors, file.tensors);
  EXPECT_EQ(back.metadata, file.metadata);
  EXPECT_EQ(write_safetensors(back), bytes);
}

TEST(Safetensors, AlignsTheData) {
  TensorFile file;
  file.tensors.emplace("x", Tensor(Dtype::fp32, {1}));
  EXPECT_EQ((write_safetensors(file).size() - 4) % 8, 0u);
}

TEST(Safetensors, ReadsAFileWrittenElsewhere) {
  const TensorFile file = read_safetensors_file(tests::case_folder / "valid/tensors_in_a_file.safetensors");
  EXPECT_EQ(file.tensors.at("target").integer(0), 1);
  EXPECT_EQ(file.tensors.at("x").shape, (std::vector<std::int64_t>{3, 2}));
}

TEST(Safetensors, RefusesWhatDoesNotFit) {
  const std::string good = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  ASSERT_NO_THROW(read_safetensors(file_of(good, "1234")));
  const std::pair<std::string, std::string> broken[] = {
      {good, "123"},
      {good, "12345"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}})", "1234"},
      {R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})", "12345678"},
      {R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[4.5],"data_offsets":[0,4]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[4]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}})", "1234"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", ""},
      {R"({"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4000000000000]}})", "1234"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
       "1234"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "1234"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}})",
       "1234"},
      {R"({"__metadata__":{"a":1}})", ""},
      {R"({"__metadata__":[]})", ""},
      {R"({"a":3})", ""},
      {R"([])", ""},
      {R"({)", ""},
  };
  for (const auto& [header, data] : broken)
    EXPECT_THROW(read_safetensors(file_of(header, data)), std::runtime_error) << header;
  EXPECT_THROW(read_safetensors(file_of(good, "1234", ~std::uint64_t{0})), std::runtime_error);
  EXPECT_THROW(read_safetensors("1234567"), std::runtime_error);
}

TEST(Safetensors, RefusesAHeaderThatWouldFillTheMemoryAndWhatIsNoFile) {
  const std::string header = "{\"a\":[" + std::string(longest_header, ' ') + "]}";
  EXPECT_THROW(read_safetensors(file_of(header, "")), std::runtime_error);
  EXPECT_THROW(
      read_safetensors(file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})" + std::string(1, '\0'), "")),
      std::runtime_error);
  const auto sparse = std::filesystem::path(testing::TempDir()) / "sparse.safetensors";
  std::ofstream(sparse) << "";
  std::filesystem::resize_file(sparse, std::uintmax_t{most_tensor_file} + 1);
  for (const auto& path : {sparse, std::filesystem::path("/dev/zero"), std::filesystem::path(testing::TempDir())})
    EXPECT_THROW(read_safetensors_file(path), std::runtime_error) << path;
  std::filesystem::remove(sparse);
}

/// What a file of this header and these data is refused with, whole.
std::string refusal(const std::string& header, const std::string& data) {
  try {
    read_safetensors(file_of(header, data));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Safetensors, NamesTheTensorThatDoesNotFit) {
  EXPECT_EQ(refusal(R"({"fc.bias":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}})", "1234"),
            R"(safetensors: tensor "fc.bias": data_offsets [0, 4] do not fit u8 [5])");
}

TEST(Safetensors, SaysWhatAnEntryLacks) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", "1234"),
            R"(safetensors: tensor "a": shape is missing)");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":4,"data_offsets":[0,4]}})", "1234"),
            R"(safetensors: tensor "a": shape is 4, no list)");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[4]}})", "1234"),
            R"(safetensors: tensor "a": data_offsets is missing)");
}

TEST(Safetensors, SaysThatAFileIsCutShort) {
  EXPECT_EQ(
      refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "123"),
      R"(safetensors: tensor "a": data_offsets [0, 4] beside 3 bytes of data: the file is cut short, or says more )"
      "than it holds");
}

TEST(Safetensors, NamesBothOfTwoTensorsThatOverlapAndTheOneBehindAGap) {
  EXPECT_EQ(refusal(R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]},)"
                    R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                    "1234"),
            R"(safetensors: tensors: "a" at [0, 2] and "b" at [1, 4] overlap)");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                    "1234"),
            R"(safetensors: data: bytes 1 to 2 belong to no tensor, before "b" at [2, 4])");
}

/// A folder with a case beside its tensors, and tensors outside it.
class TensorFolder : public testing::Test {
 protected:
  void SetUp() override {
    const auto tensors = tests::case_folder / "valid/tensors_in_a_file.safetensors";
    std::filesystem::create_directories(inside_ / "sub");
    std::filesystem::copy_file(tensors, outside_ / "t.safetensors");
    std::filesystem::copy_file(tensors, inside_ / "sub/t.safetensors");
    std::filesystem::create_symlink(outside_ / "t.safetensors", inside_ / "out.safetensors");
    std::filesystem::create_directory_symlink(outside_, inside_ / "up");
    std::filesystem::create_symlink("sub/t.safetensors", inside_ / "in.safetensors");
  }
  void TearDown() override { std::filesystem::remove_all(outside_); }

  Case read(const std::string& name, const std::filesystem::path& folder) const {
    std::string text = tests::text_of(tests::case_folder / "valid/tensors_in_a_file.json");
    const std::string written = "tensors_in_a_file.safetensors";
    return read_case(text.replace(text.find(written), written.size(), name), folder);
  }

  const std::filesystem::path outside_ =
      std::filesystem::temp_directory_path() /
      ("tally-" + std::to_string(std::hash<std::string>{}(
                      std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
                      std::to_string(::testing::UnitTest::GetInstance()->start_timestamp()))));
  const std::filesystem::path inside_ = outside_ / "case";
};

TEST_F(TensorFolder, IsReadFromWithin) {
  EXPECT_NO_THROW(read("sub/t.safetensors", inside_));
  EXPECT_NO_THROW(read("./sub/t.safetensors", inside_));
  EXPECT_NO_THROW(read("in.safetensors", inside_));
}

TEST_F(TensorFolder, IsNeverLeft) {
  for (const char* name :
       {"../t.safetensors", "sub/../../t.safetensors", "out.safetensors", "up/t.safetensors", "", "sub"})
    EXPECT_THROW(read(name, inside_), InvalidCase) << name;
  EXPECT_THROW(read((inside_ / "sub/t.safetensors").string(), inside_), InvalidCase);
  EXPECT_THROW(read("sub/t.safetensors", {}), InvalidCase);
  EXPECT_THROW(read("sub/t.safetensors", inside_ / "absent"), InvalidCase);
}

}  // namespace
}  // namespace tally::safetensors_test
