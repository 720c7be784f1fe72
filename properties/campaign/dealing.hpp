// The dealer's side of a campaign over machines: who takes part, what they hold, what has come, and who is lost.
// How its messages travel is its owner's.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "properties/campaign/dealer.hpp"
#include "properties/campaign/journal.hpp"

namespace tally {

/// A foreman that cannot take part: what() says who, and why.
struct NotTheSameCampaign : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Dealing {
 public:
  using Send = std::function<void(int to, const std::string& word, const std::string& text)>;
  using Done = std::function<void(std::size_t number)>;

  /// A process that has workers, and what they did.
  struct Member {
    std::string host{};
    int workers = 0, idle = 0;
    std::size_t pieces = 0;       // that it answered
    double busy = 0, waited = 0;  // seconds of its workers together: in pieces, and for one
    bool joined = false;
    bool left = false;  // was told that it is over, and has nothing more to say
    bool lost = false;  // was silent for too long, and has not been heard since
    std::chrono::steady_clock::time_point heard{};
  };

  /// `heading` is told to `members` processes, and nothing is dealt until all of them have joined. One that is silent
  /// for `lost_after` seconds is lost: what it holds is dealt again.
  Dealing(Dealer dealer, Journal& journal, const std::string& heading, std::size_t members, double lost_after,
          Send send, Done done);

  /// Throws NotTheSameCampaign, DifferentAnswers.
  void handle(int from, const std::string& word, const std::string& text);
  /// Now and then: looks for the lost. Throws std::runtime_error where one never joined, and where all are lost before
  /// it is over.
  void look_after();
  /// Tells all that it is over. Done by itself once all is answered.
  void stop();
  bool is_over() const { return over_; }
  /// It is over, and each process has left or is lost. Whoever ends sooner may wait in MPI for one that stands still.
  bool is_left() const;

  const Dealer& dealer() const { return dealer_; }
  const std::vector<Member>& members() const { return members_; }
  /// A piece that was run: how long it took, and who ran it first.
  struct Run {
    std::size_t number;
    double seconds;
    int member;
  };
  const std::vector<Run>& runs() const { return runs_; }
  /// The time that this process spent in handle(), and how many pieces it dealt, and dealt again.
  double seconds() const { return seconds_; }
  std::size_t dealt() const { return dealt_; }
  std::size_t dealt_again() const { return dealt_again_; }

 private:
  using Clock = std::chrono::steady_clock;
  void take(int from, const std::string& text);
  void join(int from, const std::string& text);
  void deal();
  void lose(std::size_t member);

  Dealer dealer_;
  Journal& journal_;
  double lost_after_;
  Send send_;
  Done done_;
  std::vector<Member> members_;
  std::vector<Run> runs_;
  bool over_ = false;
  double seconds_ = 0;
  std::size_t dealt_ = 0, dealt_again_ = 0;
};

}  // namespace tally
