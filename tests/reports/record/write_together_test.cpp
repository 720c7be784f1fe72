#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "reports/record/files.hpp"
#include "reports/record/record.hpp"

namespace tally::write_together_test {
namespace {

namespace fs = std::filesystem;

class WriteTogether : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("tally-write-together-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file() const { return (folder_ / "file").string(); }
  std::string content() const { return content_of(file()); }
  static std::string content_of(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  auto files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_;
};

TEST_F(WriteTogether, ReplacesTheWholeFileAndLeavesNothingBeside) {
  write_atomically(file(), std::string("long\0text", 9));
  EXPECT_EQ(content(), std::string("long\0text", 9));
  write_atomically(file(), "x");
  EXPECT_EQ(content(), "x");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteTogether, WritesWhereALinkLeads) {
  const fs::path real = fs::path(file()).parent_path() / "real";
  fs::create_symlink("real", file());
  write_atomically(file(), "new");  // there or not
  write_atomically(file(), "newer");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(real)));
  EXPECT_EQ(content(), "newer");
  EXPECT_EQ(files(), 2);
}

TEST_F(WriteTogether, LeavesAPipeAndALoopOfLinksAsTheyAre) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_fifo(file()));
  fs::remove(file());
  fs::create_symlink("file", file());
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_symlink(file()));
}

TEST_F(WriteTogether, NamesTheFileThatItCannotWrite) {
  const std::string nowhere = file() + "-missing/file";
  try {
    write_atomically(nowhere, "x");
    FAIL() << "wrote into a folder that does not exist";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write " + nowhere + ": No such file or directory");
  }
}

TEST_F(WriteTogether, KeepsWhatIsThereWhenItFails) {
  fs::create_directories(file());
  EXPECT_THROW(write_atomically(file(), "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_directory(file()));
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteTogether, ReplacesAllFilesOrNone) {
  const std::string second = file() + "-2", folder = file() + "-3";
  write_together({{file(), "old"}, {second, "old"}});
  fs::create_directories(folder);

  EXPECT_THROW(write_together({{file(), "new"}, {second, "new"}, {folder, "new"}}), std::runtime_error);

  EXPECT_EQ(content(), "old");
  EXPECT_EQ(content_of(second), "old");
  EXPECT_EQ(files(), 3);
  write_together({{file(), "new"}, {second, "new"}});
  EXPECT_EQ(content() + content_of(second), "newnew");
}

/// A limit on a file's size stands in for a full disk.
TEST_F(WriteTogether, LeavesTheOldFilesWhereTheNewOnesDoNotFit) {
  const std::string second = file() + "-2", large(1 << 16, 'x');
  write_together({{file(), "old"}, {second, "old"}});
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small{1024, usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);

  EXPECT_THROW(write_together({{file(), "new"}, {second, large}}), std::runtime_error);
  setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, before);

  EXPECT_EQ(content() + content_of(second), "oldold");
  EXPECT_EQ(files(), 2);
}

TEST_F(WriteTogether, TakesAwayWhatAKilledProcessLeftAndNothingElse) {
  std::ofstream(folder_ / ".tally-mine") << "a user's";
  const pid_t child = fork();
  if (child == 0) {
    HiddenFile hidden(folder_);
    if (!hidden.fill("half") || !hidden.appear()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(files(), 2);
  HiddenFile under_way(folder_);
  ASSERT_TRUE(under_way.fill("of a process that lives") && under_way.appear());

  write_together({{file(), "new"}});

  EXPECT_EQ(files(), 3) << "the abandoned one is gone; the one under way, the user's and the new one are there";
  EXPECT_TRUE(under_way.become(file()));
}

TEST_F(WriteTogether, LetsOneProcessAtATimeChangeAFile) {
  constexpr int processes = 8, rounds = 25;
  write_atomically(file(), "");
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int i = 0; i < rounds; ++i) {
      const FolderLock alone(file());
      write_atomically(file(), content() + "x");
    }
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);

  EXPECT_EQ(content(), std::string(processes * rounds, 'x'));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace tally::write_together_test
