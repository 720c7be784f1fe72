#include "properties/studies/evidence/hill_climb.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "properties/compare/lens.hpp"
#include "properties/studies/evidence/change.hpp"
#include "properties/studies/evidence/part.hpp"

namespace tally {
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
