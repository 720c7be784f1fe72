// What a campaign over clean cases found, counted by stratum, and as text.
#include "properties/lab/evidence/strata.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace tally {

int RatioHistogram::bin_of(double r) {
  if (!(r < 1)) return bins - 1;
  int exponent = 0;
  const double mantissa = 2 * std::frexp(r, &exponent);  // in [1, 2): r = mantissa * 2^(exponent - 1)
  return std::max(0, (exponent - 1 + octaves) * steps + static_cast<int>((mantissa - 1) * steps));
}

double RatioHistogram::lower_edge(int bin) {
  return std::ldexp(1 + static_cast<double>(bin % steps) / steps, bin / steps - octaves);
}

void RatioHistogram::merge(const RatioHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::uint64_t RatioHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double RatioHistogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(count());
  std::uint64_t reached = 0;
  for (int bin = 0; bin < bins; ++bin) {
    reached += count_in(bin);
    if (reached > 0 && static_cast<double>(reached) >= wanted) return lower_edge(bin);
  }
  return 0;
}

namespace {

bool begins_like(const Labels& labels, const Labels& beginning) {
  return labels.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), labels.begin());
}

}  // namespace

/// Of equal ratios the one found first, in the order of cases and taps' names.
void Stratum::see_worst(double r, std::uint64_t number, const std::string& tap) {
  if (!(r > worst) && !(r == worst && std::tie(number, tap) < std::tie(worst_case, worst_tap))) return;
  worst = r;
  worst_case = number;
  worst_tap = tap;
}

void Stratum::merge(const Stratum& other) {
  cases += other.cases;
  alarmed += other.alarmed;
  refused += other.refused;
  checks += other.checks;
  alarms += other.alarms;
  vacuous += other.vacuous;
  not_run += other.not_run;
  judged += other.judged;
  ratios.merge(other.ratios);
  least_chance = std::min(least_chance, other.least_chance);
  if (other.worst > 0) see_worst(other.worst, other.worst_case, other.worst_tap);
}

void Strata::merge(const Strata& other) {
  for (const auto& [labels, stratum] : other.strata_) strata_[labels].merge(stratum);
}

Stratum Strata::sum(const Labels& beginning) const {
  Stratum whole;
  for (const auto& [labels, stratum] : strata_) {
    if (begins_like(labels, beginning)) whole.merge(stratum);
  }
  return whole;
}

std::vector<std::string> Strata::parts(const std::string& lens) const {
  std::set<std::string> found;
  for (const auto& [labels, stratum] : strata_) {
    if (labels.size() == 4 && labels[0] == "stage" && labels[1] == lens) found.insert(labels[3]);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> Strata::next(const Labels& beginning) const {
  std::set<std::string> found;
  for (const auto& [labels, stratum] : strata_) {
    if (labels.size() > beginning.size() && begins_like(labels, beginning)) found.insert(labels[beginning.size()]);
  }
  return {found.begin(), found.end()};
}

// Strata as text, for the pipe between a job and the campaign: labels, counts, the worst, the bins that are not empty.
namespace {

std::string joined(const Labels& labels) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : "\t") + label;
  return text;
}

Labels split(const std::string& line) {
  Labels labels;
  std::istringstream in(line);
  for (std::string label; std::getline(in, label, '\t');) labels.push_back(label);
  return labels;
}

std::string hexadecimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

void write(std::ostringstream& out, const Stratum& s) {
  out << s.cases << ' ' << s.alarmed << ' ' << s.refused << ' ' << s.checks << ' ' << s.alarms << ' ' << s.vacuous
      << ' ' << s.not_run << ' ' << s.judged << ' ' << hexadecimal(s.least_chance) << ' ' << hexadecimal(s.worst) << ' '
      << s.worst_case << ' ' << s.worst_tap << '\n';
  for (int bin = 0; bin < RatioHistogram::bins; ++bin) {
    if (s.ratios.count_in(bin) > 0) out << bin << ' ' << s.ratios.count_in(bin) << ' ';
  }
  out << '\n';
}

[[noreturn]] void refuse(const std::string& line) {
  throw std::runtime_error("strata: found '" + line + "'; expected what text_of() writes");
}

void read_counts(const std::string& line, Stratum& s) {
  std::istringstream in(line);
  std::string chance, worst;
  in >> s.cases >> s.alarmed >> s.refused >> s.checks >> s.alarms >> s.vacuous >> s.not_run >> s.judged >> chance;
  in >> worst >> s.worst_case;
  if (!in || in.get() != ' ') refuse(line);
  s.least_chance = std::strtod(chance.c_str(), nullptr);
  s.worst = std::strtod(worst.c_str(), nullptr);
  std::getline(in, s.worst_tap);
}

void read_bins(const std::string& line, Stratum& s) {
  std::istringstream in(line);
  int bin = 0;
  for (std::uint64_t count = 0; in >> bin >> count;) {
    if (bin < 0 || bin >= RatioHistogram::bins) refuse(line);
    s.ratios.add_to(bin, count);
  }
  if (!in.eof()) refuse(line);
}

}  // namespace

std::string text_of(const Strata& strata) {
  std::ostringstream out;
  for (const auto& [labels, stratum] : strata.all()) {
    out << joined(labels) << '\n';
    write(out, stratum);
  }
  return out.str();
}

Strata strata_of_text(std::string_view text) {
  Strata strata;
  std::istringstream in{std::string(text)};
  for (std::string labels, counts, bins; std::getline(in, labels);) {
    if (!std::getline(in, counts) || !std::getline(in, bins)) refuse(labels);
    Stratum& stratum = strata.at(split(labels));
    read_counts(counts, stratum);
    read_bins(bins, stratum);
  }
  return strata;
}

}  // namespace tally
