#include "properties/diagnosis/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "properties/compare/absent_stages.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
namespace {

std::string short_number(double value, int digits = 4) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// Digits that tell the two apart, where any do.
int telling_digits(double a, double b) {
  int digits = 4;
  while (digits < 17 && a != b && short_number(a, digits) == short_number(b, digits)) ++digits;
  return digits;
}

/// A power of ten above the chance; far below anything that matters, all read the same.
std::string chance_limit(double log10) {
  constexpr double least = -1000;
  return "1e" + short_number(log10 >= least ? std::ceil(log10) : least);
}

/// Inside its bound, but not what rounding to nearest leaves.
std::string spread_sentence(const TensorCheck& check) {
  const SpreadFinding& found = check.spread;
  std::string text = check.tap + " by the statistical lens (" + found.test + "): " + short_number(found.deviation) +
                     " times its spread, chance below " + chance_limit(found.log10_chance);
  if (found.share != 0) text += "; the error holds " + short_number(found.share) + " of that direction";
  return text;
}

/// As accurate as the declared order, but not its bits.
std::string order_sentence(const TensorCheck& check) {
  return check.tap + ": bits of " + std::to_string(check.differing) + " of " + std::to_string(check.elements) +
         " elements differ from the order of additions that the kernel claims, at equal accuracy (" +
         short_number(check.worst_ratio) + "x of its bound)";
}

}  // namespace

std::string element_of(const TensorCheck& check) {
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return check.tap + "[" + index + "]" + (check.place.empty() ? "" : " (" + check.place + ")");
}

std::string figures_of(const TensorCheck& check, const std::string& ratio) {
  const int digits = telling_digits(check.expected, check.got);
  std::string text = "expected " + short_number(check.expected, digits) + ", got " + short_number(check.got, digits);
  if (check.expected == 0 || check.got == 0 || !std::isfinite(check.got)) return text;
  const double share = check.got / check.expected;
  return text + ", " + short_number(share, telling_digits(share, 1)) + " of it" + (ratio.empty() ? "" : " = " + ratio);
}

std::string sentence_of(const TensorCheck& check, const std::string& ratio) {
  if (!check.message.empty()) return check.message;
  if (check.failure == FailureClass::order) return order_sentence(check);
  if (check.failure == FailureClass::precision) return spread_sentence(check);
  if (check.failure == FailureClass::logic && check.expected == check.got && check.error == 0)
    return element_of(check) + " by the " + check.lens + " lens: " + std::to_string(check.differing) + " of " +
           std::to_string(check.elements) +
           " elements have other bits, of no other value: the sign of a zero, or the " + "order of what is equal";
  std::string text = element_of(check) + " by the " + check.lens + " lens: " + figures_of(check, ratio);
  text += "; error " + short_number(check.error) + ", bound " + short_number(check.bound);
  if (std::isfinite(check.worst_ratio)) text += " (" + short_number(check.worst_ratio) + "x)";
  if (const std::string terms = text_of(check.terms); !terms.empty()) text += "; the bound is " + terms;
  return text;
}

std::string absence_sentence(const TensorCheck& absent, std::vector<TensorCheck> checks) {
  std::erase_if(checks, [&](const TensorCheck& check) { return is_absent(check) && check.tap == absent.tap; });
  const TensorCheck* next = first_failure(checks);
  return absent.tap + " is absent: the recipe demands " + absent.stage + ", which was not run" +
         (next == nullptr ? "" : "; behind it fails " + sentence_of(*next, ""));
}

}  // namespace tally
