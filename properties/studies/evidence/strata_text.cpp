// Strata as text, for the pipe between a job and the campaign: labels, counts, the worst, the bins that are not empty.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "properties/studies/evidence/strata.hpp"

namespace tally {
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
