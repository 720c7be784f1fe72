#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "reports/command_line/verify/process_group.hpp"

namespace tally::command_line::group_account_test {
namespace {

using Why = StepFailed::Why;

const std::optional<ProcessEnd> goes_on, ended = ProcessEnd{"an exit with code 137", false};

/// A process that does nothing until the object ends.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  void stop() const {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// Three ranks at work, each a process that sleeps.
class GroupAccount : public testing::Test {
 protected:
  GroupAccount() {
    for (int rank = 0; rank < board.ranks(); ++rank) {
      board.rank(rank).pid = sleepers[rank].pid();
      board.rank(rank).standing = RankNotes::at_work;
    }
  }
  void wait(int rank, int from, const char* about) {
    board.rank(rank).awaited = from;
    board.rank(rank).about.put(about);
    board.rank(rank).standing = RankNotes::waiting;
  }
  StepFailed failure(const std::optional<ProcessEnd>& how) const {
    return failure_of_group(board, "mpirun", how, "4 s");
  }
  GroupBoard board{3};
  Sleeper sleepers[3];
};

TEST_F(GroupAccount, FollowsThoseThatWaitToTheOneThatIsStopped) {
  wait(0, 1, "w0/reduce");
  wait(1, 2, "w0/agree");
  board.rank(2).tap.put("w0/r2/m1/backward/d.fc1.weight");
  sleepers[2].stop();

  EXPECT_EQ(account_of_hang(board, 0, "2 s"),
            "hang: after 2 s rank 0 waits for w0/reduce from rank 1, which waits for w0/agree from rank 2, which is "
            "stopped, after the tap w0/r2/m1/backward/d.fc1.weight");
}

TEST_F(GroupAccount, NamesARankThatIsAtWork) {
  wait(1, 0, "w0/reduce");

  EXPECT_EQ(account_of_hang(board, 1, "2 s"),
            "hang: after 2 s rank 1 waits for w0/reduce from rank 0, which is at work, before its first tap");
}

TEST_F(GroupAccount, CallsRanksThatWaitForEachOtherADeadlock) {
  wait(0, 1, "w0/reduce");
  wait(1, 2, "w0/agree");
  wait(2, 1, "w1/reduce");

  EXPECT_EQ(account_of_hang(board, 0, "30 s"),
            "deadlock: after 30 s rank 0 waits for w0/reduce from rank 1, which waits for w0/agree from rank 2, which "
            "waits for w1/reduce from rank 1");
}

TEST_F(GroupAccount, BlamesTheRankThatEndedFirst) {
  board.rank(1).tap.put("w0/r1/m0/forward/fc1.y");
  board.note_end(1, SIGSEGV);
  board.note_end(0, SIGTERM);  // by the launcher, which ends the others

  const StepFailed failed = failure(ended);

  EXPECT_STREQ(failed.what(),
               "crash: rank 1 was ended by signal 11 (Segmentation fault), after the tap w0/r1/m0/forward/fc1.y");
  EXPECT_EQ(failed.why(), Why::died);
}

TEST_F(GroupAccount, DoesNotAskWhetherAKilledRankWouldDieAgain) {
  board.note_end(2, SIGKILL);

  EXPECT_STREQ(failure(ended).what(), "crash: rank 2 was ended by signal 9 (Killed), before its first tap");
  EXPECT_EQ(failure(ended).why(), Why::wrong);
}

TEST_F(GroupAccount, NamesAnExitThatNobodyAskedFor) {
  board.note_end(0, 3 << 8);

  EXPECT_STREQ(failure(ended).what(), "crash: rank 0 was ended by an exit with code 3, before its first tap");
}

TEST_F(GroupAccount, BlamesNoRankForAnEndThatTheLauncherWasAskedFor) {
  board.note_end(0, SIGTERM);

  EXPECT_STREQ(failure(ended).what(), "its launcher (mpirun) ended its ranks, rank 0 by signal 15 (Terminated)");
  EXPECT_EQ(failure(ended).why(), Why::from_outside);
}

TEST_F(GroupAccount, BlamesTheLauncherWhereNoRankEnded) {
  EXPECT_STREQ(failure(ended).what(), "its launcher (mpirun) was ended by an exit with code 137");
  EXPECT_EQ(failure(ended).why(), Why::from_outside);
}

TEST_F(GroupAccount, DoesNotBlameARankThatHadDoneAllItsWork) {
  board.rank(0).standing = RankNotes::done;
  board.note_end(0, 0);

  EXPECT_EQ(failure(ended).why(), Why::from_outside);
}

TEST_F(GroupAccount, KeepsWhatTheFirstRankFoundThatGaveUp) {
  EXPECT_TRUE(board.give_up("hang: the first"));
  EXPECT_FALSE(board.give_up("hang: the second"));
  board.note_end(1, 3 << 8);

  EXPECT_STREQ(failure(ended).what(), "hang: the first");
  EXPECT_EQ(failure(ended).why(), Why::hung);
}

TEST_F(GroupAccount, SaysWhyARankLeft) {
  GroupPost post(board.path(), 1, 3), later(board.path(), 2, 3);

  post.leave("mismatched: 8 bytes");
  later.leave("in vain");

  EXPECT_TRUE(later.is_broken());
  EXPECT_EQ(later.why_broken(), "rank 1 left the case: mismatched: 8 bytes");
  EXPECT_STREQ(failure(ended).what(), "rank 1 left the case: mismatched: 8 bytes");
}

TEST_F(GroupAccount, CallsRanksThatWorkTooSlowAndNotHung) {
  EXPECT_EQ(failure(goes_on).why(), Why::too_slow);
  EXPECT_STREQ(failure(goes_on).what(),
               "it took longer than 4 s (--case-time): rank 0 is at work, before its first tap; rank 1 is at work, "
               "before its first tap; rank 2 is at work, before its first tap");
}

TEST_F(GroupAccount, CallsAStoppedRankHungThoughNoOtherWaitsForIt) {
  sleepers[1].stop();

  EXPECT_EQ(failure(goes_on).why(), Why::hung);
  EXPECT_STREQ(failure(goes_on).what(),
               "hang: it took longer than 4 s (--case-time): rank 1 is stopped, before its first tap");
}

TEST(GroupBoard, IsFoundByItsPathAlone) {
  const GroupBoard board(2);

  const auto same = GroupBoard::at(board.path());

  ASSERT_TRUE(same.has_value());
  same->rank(1).tap.put("w0/r1/cast/fc1.weight");
  EXPECT_EQ(board.rank(1).tap.view(), "w0/r1/cast/fc1.weight");
  EXPECT_FALSE(GroupBoard::at("/proc/self/exe").has_value());
  EXPECT_FALSE(GroupBoard::at("").has_value());
  EXPECT_THROW(board.rank(2), std::logic_error);
}

TEST(GroupBoard, CutsTextThatIsTooLong) {
  const GroupBoard board(1);

  board.rank(0).about.put(std::string(1000, 'x'));

  EXPECT_EQ(board.rank(0).about.view(), std::string(255, 'x'));
}

/// How a rank's two processes end whose trains is `work`.
int ended_under_watch(const GroupBoard& board, void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    GroupPost post(board.path(), 0, 1);
    post.train_under_watch();
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(GroupPost, NotesTheWayOfAnEndAndEndsAlike) {
  const GroupBoard board(1);
  void (*const ways[])() = {[] { kill(getpid(), SIGKILL); }, [] { raise(SIGABRT); }, [] { _exit(7); }};
  for (auto* const way : ways) {
    const int status = ended_under_watch(board, way);

    EXPECT_EQ(board.rank(0).status & ~WCOREFLAG, status & ~WCOREFLAG);
    EXPECT_TRUE(status != 0);
  }
  EXPECT_EQ(board.rank(0).end, 3u);
}

TEST(GroupPost, NotesTapsWhileItsRankIsAtWork) {
  const GroupBoard board(2);
  GroupPost post(board.path(), 1, 2);

  tell_tap({0, -1, "cast", "before", 1});
  post.stand(RankNotes::at_work);
  tell_tap({0, 2, "forward", "fc1.y", 1});
  post.stand(RankNotes::idle);
  tell_tap({0, -1, "cast", "behind", 1});

  EXPECT_EQ(board.rank(1).tap.view(), "w0/r1/m2/forward/fc1.y");
}

TEST(GroupPost, NotesNothingWithoutABoard) {
  GroupPost post("", 0, 2);

  post.leave("nobody hears it");
  post.wait(1, "w0/reduce");

  EXPECT_FALSE(post.is_broken());
  EXPECT_EQ(post.give_up(2), "");
}

}  // namespace
}  // namespace tally::command_line::group_account_test
