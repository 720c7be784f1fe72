#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "properties/campaign/coordinator.hpp"

namespace tally::journal_test {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  JournalTest() { fs::remove(file_); }
  ~JournalTest() override { fs::remove(file_); }

  void write_two() {
    Journal journal = Journal::begun(file_, "a campaign");
    journal.add(2, "an answer\nof two lines");
    journal.add(0, "another");
  }
  std::vector<std::string> read_again(std::size_t pieces = 3) {
    std::vector<std::string> answers(pieces);
    Journal::resumed(file_, answers);
    return answers;
  }

  fs::path file_ = fs::path(testing::TempDir()) / ("tally-journal-" + std::to_string(getpid()));
};

TEST_F(JournalTest, GivesBackEveryAnswerByItsNumber) {
  write_two();

  EXPECT_EQ(read_again(), (std::vector<std::string>{"another", "", "an answer\nof two lines"}));
  EXPECT_EQ(Journal::heading_of(file_), "a campaign");
}

TEST_F(JournalTest, CutsOffWhatWasWrittenLastAndNotWholeAndGoesOn) {
  write_two();
  const auto whole = fs::file_size(file_);
  for (std::uintmax_t cut = 1; cut < 60; ++cut) {
    fs::resize_file(file_, whole - cut);

    std::vector<std::string> answers(3);
    Journal journal = Journal::resumed(file_, answers);
    EXPECT_EQ(answers, (std::vector<std::string>{"", "", "an answer\nof two lines"})) << cut;
    journal.add(0, "another");

    EXPECT_EQ(read_again()[0], "another") << cut;
    EXPECT_EQ(fs::file_size(file_), whole);
  }
}

TEST_F(JournalTest, TakesNoAnswerWhoseBytesHaveChanged) {
  write_two();
  std::fstream(file_, std::ios::in | std::ios::out | std::ios::binary).seekp(-2, std::ios::end).put('X');

  EXPECT_EQ(read_again(), (std::vector<std::string>{"", "", "an answer\nof two lines"}));
}

TEST_F(JournalTest, RefusesAFileThatIsThereAndOneThatIsNoJournal) {
  write_two();

  EXPECT_THROW(Journal::begun(file_, "a campaign"), std::runtime_error);
  EXPECT_THROW(read_again(1), std::runtime_error);
  std::ofstream(file_) << "no journal\n";
  EXPECT_THROW(read_again(), std::runtime_error);
  EXPECT_THROW(Journal::heading_of(file_), std::runtime_error);
}

}  // namespace
}  // namespace tally::journal_test
