// Waivers, the part of TOML that they are written in, and the gate that holds them to their day.
#include "reports/gate/waivers.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "reports/gate/rules.hpp"
#include "reports/record/record.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

bool waives(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// The whole number in `text`, or -1.
int number_of(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return value;
}

}  // namespace

bool Waiver::covers(const CaseRecord& c) const {
  return waives(law, c.law) && waives(precision, c.precision) && waives(id, c.id);
}

std::string Waiver::text() const {
  return "line " + std::to_string(line) + ": " + law + (precision == "*" ? "" : ", " + precision) +
         (id == "*" ? "" : ", case " + id);
}

bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int year = number_of(text.substr(0, 4)), month = number_of(text.substr(5, 2)),
            day = number_of(text.substr(8, 2));
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

std::string today() {
  const std::chrono::year_month_day now(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(now.year()), static_cast<unsigned>(now.month()),
                static_cast<unsigned>(now.day()));
  return text;
}

// Reads the part of TOML that waivers are written in.
namespace {

constexpr std::size_t longest_shown = 60;
constexpr std::size_t most_waivers = 10'000;  // people write them by hand

std::string shown(std::string_view text) {
  const std::string line = one_line(text);
  return "'" + (line.size() <= longest_shown ? line : line.substr(0, longest_shown - 3) + "...") + "'";
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class WaiverFile {
 public:
  explicit WaiverFile(std::string name) : name_(std::move(name)) {}

  std::vector<Waiver> read(std::string_view toml) {
    for (std::size_t from = 0; from <= toml.size();) {
      const std::size_t end = std::min(toml.find('\n', from), toml.size());
      ++line_;
      take_line(trimmed(toml.substr(from, end - from)));
      from = end + 1;
    }
    finish_table();
    return std::move(waivers_);
  }

 private:
  [[noreturn]] void refuse(std::string_view found, const std::string& expected) const {
    throw std::runtime_error(name_ + ":" + std::to_string(line_) + ": found " + shown(found) + ", expected " +
                             expected);
  }

  void take_line(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (line.front() == '[') {
      if (trimmed(line.substr(0, line.find('#'))) != "[[xfail]]") refuse(line, "[[xfail]]");
      finish_table();
      if (waivers_.size() == most_waivers) refuse(line, "at most " + std::to_string(most_waivers) + " of them");
      waivers_.emplace_back();
      waivers_.back().line = line_;
      return;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) refuse(line, "key = value");
    if (waivers_.empty()) refuse(line, "[[xfail]] before the first key");
    take_key(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }

  void take_key(std::string_view key, std::string_view value) {
    Waiver& w = waivers_.back();
    const std::map<std::string_view, std::string*> members = {{"law", &w.law},   {"precision", &w.precision},
                                                              {"case", &w.id},   {"reason", &w.reason},
                                                              {"link", &w.link}, {"expires", &w.expires}};
    const auto member = members.find(key);
    if (member == members.end()) refuse(key, "law, precision, case, reason, link or expires");
    if (!seen_.insert(std::string(key)).second) refuse(key, "every key once");
    *member->second = key == "expires" ? day_in(value) : text_in(value);
  }

  /// What stands between quotes; escapes are \" and \\ alone.
  std::string text_in(std::string_view value) const {
    if (value.empty() || value.front() != '"') refuse(value, "text in double quotes");
    std::string text;
    for (std::size_t i = 1; i < value.size(); ++i) {
      if (value[i] == '"') {
        require_end(value.substr(i + 1));
        return text;
      }
      if (value[i] == '\\' && (++i == value.size() || (value[i] != '"' && value[i] != '\\')))
        refuse(value, "\\\" and \\\\ as the only escapes");
      if (static_cast<unsigned char>(value[i]) < ' ' && value[i] != '\t') refuse(value, "no control characters");
      text += value[i];
    }
    refuse(value, "a closing quote");
  }

  std::string day_in(std::string_view value) const {
    const std::string_view day = trimmed(value.substr(0, value.find('#')));
    if (!is_day(day)) refuse(value, "a day such as 2027-03-31");
    return std::string(day);
  }

  void require_end(std::string_view rest) const {
    rest = trimmed(rest);
    if (!rest.empty() && rest.front() != '#') refuse(rest, "nothing after the value");
  }

  void finish_table() {
    if (waivers_.empty()) return;
    const Waiver& w = waivers_.back();
    for (const auto& [key, value] :
         {std::pair{"law", w.law}, {"reason", w.reason}, {"link", w.link}, {"expires", w.expires}})
      if (trimmed(value).empty())
        throw std::runtime_error(name_ + ":" + std::to_string(w.line) + ": found an xfail without " + key +
                                 ", expected law, reason, link and expires in each");
    seen_.clear();
  }

  std::string name_;
  int line_ = 0;
  std::set<std::string> seen_;
  std::vector<Waiver> waivers_;
};

}  // namespace

std::vector<Waiver> waivers_of_toml(std::string_view toml, const std::string& name) {
  return WaiverFile(name).read(toml);
}

std::vector<Waiver> read_waivers(const std::string& file) { return waivers_of_toml(stored_text(file), file); }

namespace {

using Kind = GateFinding::Kind;

bool fails(const CaseRecord& c) {
  return c.status == Status::fail || c.status == Status::error ||
         (c.status == Status::pass && !(c.worst_local_ratio <= 1));
}

}  // namespace

Results waivers_gate(const Results& results, const GateContext& context, Findings& out) {
  const std::string day = context.today.empty() ? today() : context.today;
  std::vector<const Waiver*> valid;
  for (const Waiver& waiver : context.waivers) {
    const auto covered = static_cast<std::uint64_t>(
        std::count_if(results.cases.begin(), results.cases.end(),
                      [&waiver](const CaseRecord& c) { return fails(c) && waiver.covers(c); }));
    if (waiver.expires < day) {
      out.push_back(
          {Kind::failed, "waivers", waiver.text(), "expired on " + waiver.expires + ": " + waiver.reason, "waiver"});
    } else if (covered == 0) {
      out.push_back(
          {Kind::failed, "waivers", waiver.text(), "nothing that it covers fails any more: remove it", "waiver"});
    } else {
      out.push_back({Kind::told, "waivers", waiver.text(),
                     counted(covered, "failing case") + " until " + waiver.expires + ": " + waiver.reason + " (" +
                         waiver.link + ")",
                     "known"});
      valid.push_back(&waiver);
    }
  }
  Results unwaived = results;
  if (valid.empty()) return unwaived;
  std::erase_if(unwaived.cases, [&valid](const CaseRecord& c) {
    return fails(c) && std::any_of(valid.begin(), valid.end(), [&c](const Waiver* w) { return w->covers(c); });
  });
  settle_laws(unwaived);
  return unwaived;
}

}  // namespace tally
