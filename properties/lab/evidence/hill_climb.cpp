// A search that tries to break the bounds, and its steps.
#include "properties/lab/evidence/hill_climb.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "properties/judge/lens.hpp"
#include "properties/lab/evidence/evidence_run.hpp"

namespace tally {
namespace {

using executor::Schedule;

bool is_floating(const Tensor& tensor) { return tensor.dtype != Dtype::i64 && tensor.dtype != Dtype::u8; }

double power(Schedule& random) { return std::ldexp(1.0, static_cast<int>(random.below(7)) - 3); }

void change_element(Tensor& tensor, Schedule& random) {
  const std::size_t i = random.below(tensor.elements());
  switch (random.below(5)) {
    case 0:
      return tensor.set_bits(i, tensor.bits(i) ^ (std::uint64_t{1} << random.below(8 * size_of(tensor.dtype))));
    case 1:
      return tensor.set_bits(i, tensor.bits(i) + (random.below(2) == 0 ? 1 : -1));
    case 2:
      return tensor.set(i, -tensor.value(i));
    case 3:
      return tensor.set(i, tensor.value(i) * power(random));
    default:
      return tensor.set_bits(i, tensor.bits(random.below(tensor.elements())));
  }
}

void scale(Tensor& tensor, double factor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) * factor);
}

/// What the contract asks of the values; the tensor goes back to what it was where that cannot be had.
void make_valid(const std::string& name, Tensor& tensor, const Tensor& before) {
  const bool variance = name.ends_with("running_var") || name.starts_with("exp_avg_sq");
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    if (variance) tensor.set(i, std::fabs(tensor.value(i)));
    if (!std::isfinite(tensor.value(i))) {
      tensor = before;
      return;
    }
  }
  tensor.drawing.reset();
}

void change_data(Case& c, Schedule& random) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : c.tensors) {
    if (is_floating(tensor) && tensor.elements() > 0) names.push_back(name);
  }
  const std::string& name = names[random.below(names.size())];
  Tensor& tensor = c.tensors.at(name);
  const Tensor before = tensor;
  random.below(8) == 0 ? scale(tensor, random.below(2) == 0 ? 2 : 0.5) : change_element(tensor, random);
  make_valid(name, tensor, before);
}

}  // namespace

void change(CleanCase& made, Schedule& random) {
  switch (random.below(8)) {
    case 0:
      made.run.subject.order_seed = random.next() | 1;
      break;
    case 1:
      made.run.subject.schedule_seed = random.next() | 1;
      break;
    default:
      change_data(made.c, random);
  }
}

namespace {

struct Reached {
  double r = 0;
  std::string tap;
};
using ReachedByPart = std::map<std::string, Reached>;

/// The worst local r of every part.
ReachedByPart reached(const CleanCase& made) {
  const Trace trace = trace_of(made.c, made.run);
  ReachedByPart parts;
  for (const TensorCheck& check : local_lens(made.c, trace)) {
    Reached& part = parts[part_of(made.c, tap_name_of(check.tap))];
    if (check.worst_ratio > part.r) part = {check.worst_ratio, check.tap};
  }
  return parts;
}

/// The case that got furthest for one part.
struct Elite {
  CleanCase made;
  Climb climb;

  Elite() = default;
  Elite(const CleanCase& start, const Reached& found) {
    offer(start, found);
    climb.first = found.r;
    climb.improved = 0;
  }
  void offer(const CleanCase& candidate, const Reached& found) {
    if (!(found.r >= climb.best)) return;
    climb.improved += found.r > climb.best;
    climb.best = found.r;
    climb.tap = found.tap;
    if (!(found.r <= 1)) climb.token = replay_token(candidate.c);
    made = candidate;
  }
};

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

}  // namespace

void Climb::merge(const Climb& other) {
  first = std::max(first, other.first);
  improved += other.improved;
  if (!(other.best > best)) return;
  best = other.best;
  tap = other.tap;
  token = other.token;
}

void merge(Climbs& climbs, const Climbs& more) {
  for (const auto& [place, climb] : more) climbs[place].merge(climb);
}

Climbs climb(const CleanCase& start, int steps, std::uint64_t seed) {
  executor::Schedule random(seed);
  std::map<std::string, Elite> elites;
  for (const auto& [part, found] : reached(start)) {
    if (found.r > 0) elites[part] = Elite(start, found);
  }
  for (int step = 0; step < steps && !elites.empty(); ++step) {
    CleanCase next = std::next(elites.begin(), step % static_cast<int>(elites.size()))->second.made;
    change(next, random);
    for (const auto& [part, found] : reached(next)) {
      const auto elite = elites.find(part);
      if (elite != elites.end()) elite->second.offer(next, found);
    }
  }
  Climbs climbs;
  const std::string precision(name_of(start.c.precision.storage));
  for (const auto& [part, elite] : elites) climbs[{precision, part}] = elite.climb;
  return climbs;
}

std::string text_of(const Climbs& climbs) {
  std::ostringstream out;
  for (const auto& [place, c] : climbs) {
    out << place.first << '\t' << place.second << '\t' << exact(c.first) << '\t' << exact(c.best) << '\t' << c.improved
        << '\t' << c.tap << '\t' << c.token << '\n';
  }
  return out.str();
}

Climbs climbs_of_text(std::string_view text) {
  Climbs climbs;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::array<std::string, 7> field;
    for (std::string& each : field) std::getline(fields, each, '\t');
    if (field[4].empty()) throw std::runtime_error("climbs: found '" + line + "'; expected what text_of() writes");
    climbs[{field[0], field[1]}] = {std::strtod(field[2].c_str(), nullptr), std::strtod(field[3].c_str(), nullptr),
                                    std::stoull(field[4]), field[5], field[6]};
  }
  return climbs;
}

}  // namespace tally
