#include "properties/campaign/dealing.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "properties/campaign/foreman.hpp"

namespace tally {

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
