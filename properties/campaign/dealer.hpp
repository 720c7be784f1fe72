// Deals the numbers of a campaign's pieces to foremen, each of whom has workers that run them, as they ask for more.
// Knows nothing of how foremen are reached.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace tally {

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

}  // namespace tally
