#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "reports/record/record.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

class WriteAtomically : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("tally-write-atomically-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file() const { return (folder_ / "file").string(); }
  std::string content() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  auto files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

 private:
  fs::path folder_;
};

TEST_F(WriteAtomically, ReplacesTheWholeFileAndLeavesNothingBeside) {
  write_atomically(file(), std::string("long\0text", 9));
  EXPECT_EQ(content(), std::string("long\0text", 9));
  write_atomically(file(), "x");
  EXPECT_EQ(content(), "x");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteAtomically, WritesWhereALinkLeads) {
  const fs::path real = fs::path(file()).parent_path() / "real";
  fs::create_symlink("real", file());
  write_atomically(file(), "new");  // there or not
  write_atomically(file(), "newer");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(real)));
  EXPECT_EQ(content(), "newer");
  EXPECT_EQ(files(), 2);
}

TEST_F(WriteAtomically, LeavesAPipeAndALoopOfLinksAsTheyAre) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_fifo(file()));
  fs::remove(file());
  fs::create_symlink("file", file());
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_symlink(file()));
}

TEST_F(WriteAtomically, NamesTheFileThatItCannotWrite) {
  const std::string nowhere = file() + "-missing/file";
  try {
    write_atomically(nowhere, "x");
    FAIL() << "wrote into a folder that does not exist";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write " + nowhere + ": No such file or directory");
  }
}

TEST_F(WriteAtomically, KeepsWhatIsThereWhenItFails) {
  fs::create_directories(file());
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_directory(file()));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace tally
