// The first process of a campaign over machines: which campaign it is, what it has found, which pieces it hands to
// whom, and who is lost. Defined in coordinator.cpp, journal.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"

namespace tally {

// What tells one campaign from another: whoever takes part in it, or goes on with it, must mean the same.

struct Heading {
  std::string campaign;           // laws, precisions, seed and all else that decides what is drawn, in words
  std::string program;            // hash of the program's file
  std::size_t pieces = 0;         // that the campaign has
  std::vector<std::string> kept;  // names of the cases that are replayed, in the campaign's corpus
};

/// On one line.
std::string text_of(const Heading& heading);
/// Throws std::runtime_error where it is none.
Heading heading_of(const std::string& text);

/// Empty where both mean the same campaign, whatever cases are replayed; else how the second differs, in words.
std::string difference(const Heading& expected, const Heading& found);

std::vector<std::string> names_of(const std::vector<KeptCase>& cases);
/// Those of a corpus that have these names. Throws std::runtime_error where one is not there.
std::vector<KeptCase> kept_cases_of(const std::filesystem::path& corpus, const std::vector<std::string>& names);

// What a campaign over machines has found so far, in a file that only grows: a run that was ended goes on from it.

class Journal {
 public:
  /// `heading`: a line that tells this campaign from others. A new file. Throws std::runtime_error, as all below, where
  /// one is there or none can be made.
  static Journal begun(const std::filesystem::path& file, const std::string& heading);
  /// One that a run left behind; the answers in it are put into `answers`, by number. What was written last may not be
  /// whole: that is cut off. Throws where a whole record is none of this campaign's.
  static Journal resumed(const std::filesystem::path& file, std::vector<std::string>& answers);
  /// The first line of a file. Throws where it is no journal.
  static std::string heading_of(const std::filesystem::path& file);

  /// Written when it returns, so that a killed process loses none; on the disk within five seconds, if sync_when_due()
  /// is called now and then, so that neither does a machine that stops.
  void add(std::size_t number, const std::string& answer);
  void sync_when_due();
  void sync();
  /// The campaign is over and its report is written.
  void remove();

 private:
  Journal(std::filesystem::path file, Descriptor descriptor);
  void put(const std::string& text);

  std::filesystem::path file_;
  Descriptor descriptor_;
  bool synced_ = true;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Deals the numbers of a campaign's pieces to foremen, each of whom has workers that run them, as they ask for more.
// Knows nothing of how foremen are reached.

/// A piece that two foremen have run, with other bytes: what() names the piece and both.
struct DifferentAnswers : std::runtime_error {
  DifferentAnswers(std::size_t piece, int first_foreman, int second_foreman, std::string first, std::string second);
  std::size_t number;
  int foremen[2];
  std::string answers[2];
};

class Dealer {
 public:
  /// `order`: all numbers in the order they are dealt in. `answers`: by number, those that are known, the others empty.
  Dealer(const std::vector<std::size_t>& order, std::vector<std::string> answers);

  struct Deal {
    std::size_t number, before;  // before: how many were dealt or known before it
  };
  /// The next number for that foreman, nothing where none is left to deal.
  std::optional<Deal> next(int foreman);
  /// Whether it is the first answer to that number. Throws DifferentAnswers, and std::invalid_argument where the number
  /// is none or its answer is empty.
  bool take(int foreman, std::size_t number, std::string answer);
  /// Deals what that foreman holds to the others, before what is left; how many that are.
  std::size_t lose(int foreman);

  std::size_t held_by(int foreman) const;
  std::size_t left() const { return left_.size(); }  // to deal
  std::size_t answered() const { return answered_; }
  bool is_done() const { return answered_ == answers_.size(); }
  const std::vector<std::string>& answers() const { return answers_; }

 private:
  std::deque<std::size_t> left_;
  std::vector<std::string> answers_;
  std::vector<int> answered_by_;  // by number; of an answer that was known from the start: no foreman
  std::map<int, std::set<std::size_t>> held_;
  std::size_t answered_ = 0;
};

/// The order that deals what took longest before first; what has no time yet goes before all, by number.
std::vector<std::size_t> longest_first(const std::vector<std::string>& titles,
                                       const std::map<std::string, double>& seconds);

// The dealer's side of a campaign over machines: who takes part, what they hold, what has come, and who is lost.
// How its messages travel is its owner's.

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
