#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>

#include "oracle/layers/claim.hpp"

namespace tally {
namespace {

using Steps = std::span<const SumStep>;

/// Partial sums under way: how many are left, and how many additions the addend that met most has passed through.
struct Partial {
  double left, additions = 0;

  void in_order(double of_each) { additions += std::max(of_each - 1, 0.0); }
};

double levels(double n) { return std::bit_width(static_cast<std::uint64_t>(std::max(n, 1.0)) - 1); }

void take_step(const SumStep& step, Partial& sums) {
  const auto number = static_cast<double>(step.number);
  switch (step.kind) {
    case SumStep::in_order_below:
      if (sums.left >= number) return;
      sums.in_order(sums.left);
      sums.left = std::min(sums.left, 1.0);
      return;
    case SumStep::runs:
      sums.in_order(std::min(sums.left, number));
      sums.left = std::ceil(sums.left / number);
      return;
    case SumStep::lanes:
      sums.in_order(std::ceil(sums.left / number));
      sums.left = std::min(sums.left, number);
      return;
    case SumStep::tree:
      sums.additions += levels(sums.left);
      sums.left = std::min(sums.left, 1.0);
      return;
    case SumStep::chunks:
    case SumStep::meet:
      return;
  }
}

/// The additions that one of n addends passes through by these steps, the rest in any order.
double through(Steps steps, double addends) {
  Partial sums{addends};
  for (const SumStep& step : steps) take_step(step, sums);
  sums.in_order(sums.left);
  return sums.additions;
}

std::size_t meeting(const OrderOfSum& order) {
  const auto meets = [](const SumStep& step) { return step.kind == SumStep::meet; };
  return static_cast<std::size_t>(std::ranges::find_if(order, meets) - order.begin());
}

void require(const OrderOfSum& order) {
  const std::string wrong = wrong_with(order);
  if (!wrong.empty()) throw std::logic_error("an order of additions with " + wrong);
}

}  // namespace

std::string name_of(SumStep::Kind kind) {
  switch (kind) {
    case SumStep::in_order_below:
      return "in_order_below";
    case SumStep::runs:
      return "runs";
    case SumStep::lanes:
      return "lanes";
    case SumStep::tree:
      return "tree";
    case SumStep::chunks:
      return "chunks";
    case SumStep::meet:
      return "meet";
  }
  return "unknown step";
}

bool takes_a_number(SumStep::Kind kind) { return kind != SumStep::tree && kind != SumStep::meet; }

std::string wrong_with(const OrderOfSum& order) {
  const bool cuts = !order.empty() && order.front().kind == SumStep::chunks;
  std::size_t meetings = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SumStep& step = order[i];
    if (takes_a_number(step.kind) && step.number < 1) return name_of(step.kind) + " " + std::to_string(step.number);
    if (!takes_a_number(step.kind) && step.number != 0) return "a number behind " + name_of(step.kind);
    if (step.kind == SumStep::chunks && i > 0) return "chunks behind another step";
    meetings += step.kind == SumStep::meet;
  }
  if (meetings != (cuts ? 1 : 0)) return cuts ? "chunks that do not meet once" : "a meet without chunks";
  return "";
}

double additions_of(const OrderOfSum& order, double addends) {
  return additions_of(order, std::vector<double>{addends});
}

double additions_of(const OrderOfSum& order, const std::vector<double>& tensors) {
  require(order);
  double all = 0;
  for (const double size : tensors) all += size;
  const double serial = std::max(all - 1, 0.0);
  if (order.empty() || order.front().kind != SumStep::chunks) return std::min(serial, through(order, all));
  const std::size_t at = meeting(order);
  const Steps inside(order.begin() + 1, order.begin() + static_cast<std::ptrdiff_t>(at));
  const Steps behind(order.begin() + static_cast<std::ptrdiff_t>(at) + 1, order.end());
  const auto length = static_cast<double>(order.front().number);
  double deepest = 0, chunks = 0;
  for (const double size : tensors) {
    const double whole = std::floor(size / length), tail = size - whole * length;
    if (whole > 0) deepest = std::max(deepest, through(inside, length));
    deepest = std::max(deepest, through(inside, tail));
    chunks += std::ceil(size / length);
  }
  return std::min(serial, deepest + through(behind, chunks));
}

}  // namespace tally
