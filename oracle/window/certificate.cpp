#include "oracle/window/certificate.hpp"

#include <cmath>

#include "oracle/real/decimal_text.hpp"

namespace tally::oracle {
namespace {

constexpr unsigned guard_digits = 20;
constexpr int doublings = 7;
/// So far below its group, a number is written 0 even where its own digits are out of reach: what e^(-10^38) leaves.
constexpr unsigned out_of_reach = 1000;

}  // namespace

std::vector<unsigned> precisions(unsigned digits) {
  std::vector<unsigned> all{static_cast<unsigned>(std::ceil((digits + guard_digits) * std::log2(10)))};
  for (int i = 0; i < doublings; ++i) all.push_back(2 * all.back());
  return all;
}

void evaluate_until_decided(const std::vector<unsigned>& bits, const std::function<void()>& evaluate) {
  for (const unsigned now : bits) {
    const BitsScope scope(now);
    try {
      return evaluate();
    } catch (const Undecided& open) {
      if (now == bits.back()) throw NotCertified(open.what() + (" (with " + std::to_string(now) + " bits)"));
    }
  }
}

void evaluate_until_decided(const std::function<void()>& in_short_balls, const std::vector<unsigned>& bits,
                            const std::function<void()>& evaluate) {
  try {
    return in_short_balls();
  } catch (const Undecided&) {
    evaluate_until_decided(bits, evaluate);
  }
}

std::optional<std::string> Certificate::digits_of(const Ball& x) const {
  return certain_ == Certain::rounded ? rounded_text(x, digits_) : decimal_text(x, digits_);
}

std::string Certificate::text(const Ball& x, const Ball& largest, const std::string& place) const {
  if (const auto digits = digits_of(x)) return *digits;
  if (certain_ == Certain::rounded)
    throw Undecided(place + ": " + shown(x) + " rounded to " + std::to_string(digits_) + " digits");
  if ((may_be_zero(x) && negligible(x, largest, digits_)) || negligible(x, largest, digits_ + out_of_reach)) return "0";
  throw Undecided(place + ": " + shown(x) + " to " + std::to_string(digits_) + " digits");
}

}  // namespace tally::oracle
