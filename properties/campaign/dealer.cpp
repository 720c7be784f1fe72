#include "properties/campaign/dealer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

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

}  // namespace tally
