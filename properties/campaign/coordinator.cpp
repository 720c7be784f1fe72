// Pieces of a campaign handed to processes on other machines, and again where one is lost.
#include "properties/campaign/coordinator.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "properties/campaign/node.hpp"

namespace tally {
namespace {

constexpr int nobody = -1;

std::string name_of(int foreman) { return foreman == nobody ? "an earlier run" : "process " + std::to_string(foreman); }

}  // namespace

DifferentAnswers::DifferentAnswers(std::size_t piece, int first_foreman, int second_foreman, std::string first,
                                   std::string second)
    : std::runtime_error("piece " + std::to_string(piece + 1) + " has another answer from " + name_of(second_foreman) +
                         " than from " + name_of(first_foreman) + ", although it draws the same cases everywhere"),
      number(piece),
      foremen{first_foreman, second_foreman},
      answers{std::move(first), std::move(second)} {}

Dealer::Dealer(const std::vector<std::size_t>& order, std::vector<std::string> answers)
    : answers_(std::move(answers)), answered_by_(answers_.size(), nobody) {
  for (const std::size_t number : order)
    if (answers_.at(number).empty()) left_.push_back(number);
  answered_ = answers_.size() - left_.size();
}

std::optional<Dealer::Deal> Dealer::next(int foreman) {
  if (left_.empty()) return std::nullopt;
  const Deal deal{left_.front(), answers_.size() - left_.size()};
  left_.pop_front();
  held_[foreman].insert(deal.number);
  return deal;
}

bool Dealer::take(int foreman, std::size_t number, std::string answer) {
  if (number >= answers_.size() || answer.empty())
    throw std::invalid_argument(name_of(foreman) + " answers piece " + std::to_string(number + 1) + " of " +
                                std::to_string(answers_.size()) + (answer.empty() ? " with nothing" : ""));
  held_[foreman].erase(number);
  if (answers_[number] == answer) return false;
  if (!answers_[number].empty())
    throw DifferentAnswers(number, answered_by_[number], foreman, answers_[number], std::move(answer));
  answers_[number] = std::move(answer);
  answered_by_[number] = foreman;
  ++answered_;
  std::erase(left_, number);  // it was dealt again, and comes from the one who was lost
  return true;
}

std::size_t Dealer::lose(int foreman) {
  std::size_t back = 0;
  const std::set<std::size_t> held = std::move(held_[foreman]);
  held_.erase(foreman);
  for (auto each = held.rbegin(); each != held.rend(); ++each) {
    if (!answers_[*each].empty()) continue;
    left_.push_front(*each);
    ++back;
  }
  return back;
}

std::size_t Dealer::held_by(int foreman) const {
  const auto held = held_.find(foreman);
  return held == held_.end() ? 0 : held->second.size();
}

std::vector<std::size_t> longest_first(const std::vector<std::string>& titles,
                                       const std::map<std::string, double>& seconds) {
  const auto took = [&](std::size_t number) {
    const auto known = seconds.find(titles[number]);
    return known == seconds.end() ? std::numeric_limits<double>::infinity() : known->second;
  };
  std::vector<std::size_t> order(titles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return took(a) > took(b); });
  return order;
}

Dealing::Dealing(Dealer dealer, Journal& journal, const std::string& heading, std::size_t members, double lost_after,
                 Send send, Done done)
    : dealer_(std::move(dealer)),
      journal_(journal),
      lost_after_(lost_after),
      send_(std::move(send)),
      done_(std::move(done)),
      members_(members) {
  for (std::size_t to = 0; to < members_.size(); ++to) {
    members_[to].heard = Clock::now();
    send_(static_cast<int>(to), word::campaign, heading);
  }
}

void Dealing::handle(int from, const std::string& word, const std::string& text) {
  const auto begin = Clock::now();
  Member& member = members_.at(static_cast<std::size_t>(from));
  member.heard = begin;
  member.lost = false;
  member.left = member.left || word == word::left;
  if (word == word::refused) throw NotTheSameCampaign("process " + std::to_string(from) + " on " + text);
  if (word == word::joined) join(from, text);
  if (word == word::answer) take(from, text);
  deal();
  if (dealer_.is_done()) stop();
  seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

void Dealing::join(int from, const std::string& text) {
  Member& member = members_.at(static_cast<std::size_t>(from));
  std::istringstream words(text);
  if (!(words >> member.workers >> member.host)) throw std::runtime_error("no foreman: " + text);
  member.joined = true;
  member.idle = member.workers;
}

void Dealing::take(int from, const std::string& text) {
  Member& member = members_.at(static_cast<std::size_t>(from));
  const auto line = text.find('\n');
  std::istringstream head(text.substr(0, line));
  std::size_t number = 0;
  double seconds = 0;
  if (line == std::string::npos || !(head >> number >> seconds >> member.waited))
    throw std::runtime_error("no answer: " + text.substr(0, 80));
  ++member.idle;
  ++member.pieces;
  member.busy += seconds;
  const std::string answer = text.substr(line + 1);
  if (!dealer_.take(from, number, answer)) return;
  journal_.add(number, answer);
  runs_.push_back({number, seconds, from});
  done_(number);
}

/// A number to every idle worker, each process in turn.
void Dealing::deal() {
  if (over_ || !std::ranges::all_of(members_, &Member::joined)) return;
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (std::size_t to = 0; to < members_.size(); ++to) {
      Member& member = members_[to];
      if (member.lost || member.idle <= 0) continue;
      const auto next = dealer_.next(static_cast<int>(to));
      if (!next) return;
      --member.idle;
      ++dealt_;
      dealt = true;
      send_(static_cast<int>(to), word::piece, std::to_string(next->number) + " " + std::to_string(next->before));
    }
  }
}

void Dealing::look_after() {
  const auto now = Clock::now();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    const std::chrono::duration<double> silent = now - member.heard;
    if (!member.lost && !member.left && silent.count() > lost_after_) lose(i);
  }
  if (!over_ && std::ranges::all_of(members_, &Member::lost)) throw std::runtime_error("every process is lost");
  deal();
  journal_.sync_when_due();
}

void Dealing::lose(std::size_t i) {
  Member& member = members_[i];
  if (!member.joined && !over_)
    throw std::runtime_error("process " + std::to_string(i) + " of " + std::to_string(members_.size()) +
                             " did not join the campaign");
  member.lost = true;
  if (!over_) dealt_again_ += dealer_.lose(static_cast<int>(i));
}

bool Dealing::is_left() const {
  return over_ && std::ranges::all_of(members_, [](const Member& member) { return member.left || member.lost; });
}

void Dealing::stop() {
  if (over_) return;
  over_ = true;
  for (std::size_t to = 0; to < members_.size(); ++to) send_(static_cast<int>(to), word::over, "");
}

}  // namespace tally
