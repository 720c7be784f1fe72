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

std::string Certificate::text(const Ball& x, const Ball& largest, const std::string& place) const {
  if (const auto certain = decimal_text(x, digits_)) return *certain;
  if ((may_be_zero(x) && negligible(x, largest, digits_)) || negligible(x, largest, digits_ + out_of_reach)) return "0";
  throw Undecided(place + ": " + shown(x) + " to " + std::to_string(digits_) + " digits");
}

}  // namespace tally::oracle
