// JSON parsed, with its numbers as decimal text that is compared and converted exactly.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_set>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

constexpr std::int64_t exponent_limit = 300;

/// Reads JSON's number grammar from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool accept(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view digits() {
    const auto length = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const std::string_view found = text_.substr(0, length);
    text_.remove_prefix(length);
    return found;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<std::int64_t> written_exponent(Scanner& scanner) {
  const bool negative = scanner.accept('-');
  if (!negative) scanner.accept('+');
  std::string_view digits = scanner.digits();
  if (digits.empty()) return std::nullopt;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > 3) return std::nullopt;
  std::int64_t value = 0;
  for (const char d : digits) value = value * 10 + (d - '0');
  if (value > exponent_limit) return std::nullopt;
  return negative ? -value : value;
}

DecimalParts normalised(bool negative, std::string_view whole, std::string_view fraction, std::int64_t exponent) {
  std::string digits = std::string(whole) + std::string(fraction);
  exponent += static_cast<std::int64_t>(whole.size());
  const auto leading = digits.find_first_not_of('0');
  if (leading == std::string::npos) return {negative, {}, 0};
  digits.erase(digits.find_last_not_of('0') + 1);
  return {negative, digits.substr(leading), exponent - static_cast<std::int64_t>(leading)};
}

DecimalParts valid_parts(std::string_view text) {
  auto parts = decimal_parts(text);
  if (!parts) throw std::logic_error("\"" + std::string(text.substr(0, 40)) + "\" is no decimal number");
  return *std::move(parts);
}

}  // namespace

std::optional<DecimalParts> decimal_parts(std::string_view text) {
  if (text.size() > longest_number) return std::nullopt;
  Scanner scanner(text);
  const bool negative = scanner.accept('-');
  const std::string_view whole = scanner.digits();
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  std::string_view fraction;
  if (scanner.accept('.')) {
    fraction = scanner.digits();
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (scanner.accept('e') || scanner.accept('E')) {
    const auto written = written_exponent(scanner);
    if (!written) return std::nullopt;
    exponent = *written;
  }
  if (!scanner.at_end()) return std::nullopt;
  DecimalParts parts = normalised(negative, whole, fraction, exponent);
  const std::int64_t scientific = parts.exponent - 1;
  if (!parts.digits.empty() && (scientific > exponent_limit || scientific < -exponent_limit)) return std::nullopt;
  return parts;
}

std::strong_ordering compare(const DecimalParts& a, const DecimalParts& b) {
  const auto sign = [](const DecimalParts& d) { return d.digits.empty() ? 0 : d.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (sign(a) == 0) return std::strong_ordering::equal;
  const auto magnitude = a.exponent != b.exponent ? a.exponent <=> b.exponent : a.digits.compare(b.digits) <=> 0;
  return sign(a) > 0 ? magnitude : 0 <=> magnitude;
}

std::strong_ordering compare_decimals(std::string_view a, std::string_view b) {
  return compare(valid_parts(a), valid_parts(b));
}

double nearest_double(std::string_view text) {
  valid_parts(text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool equals(const DecimalParts& decimal, double value) {
  std::array<char, 1200> buffer;  // a binary64 has at most 767 significant digits
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific, 800).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.begin()));
  const auto e = text.find('e');
  if (e == std::string_view::npos) return false;
  const bool negative = text.front() == '-';
  const std::size_t first = negative ? 1 : 0;
  int exponent = 0;
  const char* digits = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  const DecimalParts exact =
      normalised(negative, text.substr(first, 1), text.substr(first + 2, e - first - 2), exponent);
  return compare(decimal, exact) == 0;
}

std::optional<std::int64_t> exact_integer(std::string_view text) {
  const auto parts = decimal_parts(text);
  if (!parts) return std::nullopt;
  if (parts->digits.empty()) return 0;
  const auto length = static_cast<std::int64_t>(parts->digits.size());
  if (parts->exponent < length || parts->exponent > 19) return std::nullopt;
  std::string whole = (parts->negative ? "-" : "") + parts->digits;
  whole.append(static_cast<std::size_t>(parts->exponent - length), '0');
  std::int64_t value = 0;
  const auto result = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

namespace {

constexpr std::size_t deepest = 32;

/// Where the string that opens at `begin` ends: one past its closing quote, or the end of the text.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  for (std::size_t i = begin + 1; i < json.size(); ++i) {
    if (json[i] == '"') return i + 1;
    if (json[i] == '\\') ++i;
  }
  return json.size();
}

bool begins_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }

/// The numbers of a text as they are written, their grammar not yet checked; in their place in `masked` stands space
/// and 0. A parser converts numbers and so loses 1e399, -0 and the digits that a binary64 does not hold.
std::vector<std::string_view> numbers_of(std::string_view json, std::string& masked) {
  std::vector<std::string_view> numbers;
  masked = json;
  for (std::size_t i = 0; i < json.size() && numbers.size() <= most_values;) {
    if (json[i] == '"') {
      i = end_of_string(json, i);
    } else if (begins_number(json[i])) {
      const std::size_t begin = i;
      i = std::min(json.find_first_not_of("+-.0123456789eE", i), json.size());
      numbers.push_back(json.substr(begin, i - begin));
      masked.replace(begin, i - begin, i - begin, ' ')[i - 1] = '0';
    } else {
      ++i;
    }
  }
  return numbers;
}

/// Receives the parser's events and builds the tree; `false` stops the parser.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const std::vector<std::string_view>& numbers, Findings& findings)
      : numbers_(numbers), findings_(findings) {}

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(Json::of_boolean(value)); }
  bool number_integer(number_integer_t) override { return false; }  // each is 0
  bool number_unsigned(number_unsigned_t) override { return put_number(std::string(numbers_.at(taken_numbers_++))); }
  bool number_float(number_float_t, const string_t&) override { return false; }
  bool string(string_t& value) override { return put(Json::of_string(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& value) override {
    open_.back().json.keys.push_back(std::move(value));
    return true;
  }
  bool end_object() override {
    note_duplicates(open_.back().json);
    return close();
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    malformed_at_ = position;
    return false;
  }

  Json take() { return std::move(root_); }
  /// One past the byte that cannot follow.
  std::size_t malformed_at() const { return malformed_at_; }

 private:
  struct Level {
    Json json;
    std::string path;
  };

  std::string path_of_next() const {
    if (open_.empty()) return "$";
    const auto& [json, path] = open_.back();
    return json.is(Json::Kind::array) ? element_path(path, json.items.size()) : member_path(path, json.keys.back());
  }
  bool put(Json value) {
    if (!take_one()) return false;
    (open_.empty() ? root_ : open_.back().json.items.emplace_back()) = std::move(value);
    return true;
  }
  bool put_number(const std::string& text) {
    if (!decimal_parts(text))
      findings_.add_broken(path_of_next(), shown(Json::of_number(text)),
                           "a decimal number in JSON's grammar, its exponent within +-300, of at most " +
                               std::to_string(longest_number) + " characters");
    return put(Json::of_number(text));
  }
  bool open(Json value) {
    if (open_.size() == deepest) {
      findings_.add_broken(path_of_next(), "a nested value", "at most 32 levels");
      return false;
    }
    std::string path = path_of_next();
    open_.push_back({std::move(value), std::move(path)});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().json);
    open_.pop_back();
    return put(std::move(value));
  }
  /// Counts a value; false, with a finding, for one too many.
  bool take_one() {
    if (++taken_ <= most_values) return true;
    findings_.add_broken("$", "more than " + std::to_string(most_values) + " values",
                         "at most that many, larger tensors in a safetensors file");
    return false;
  }
  void note_duplicates(const Json& object) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& key : object.keys)
      if (!seen.insert(key).second)
        findings_.add_broken(member_path(open_.back().path, key), "the key twice", "every key once");
  }

  const std::vector<std::string_view>& numbers_;
  Findings& findings_;
  std::vector<Level> open_;
  Json root_;
  std::size_t malformed_at_ = 0, taken_ = 0, taken_numbers_ = 0;
};

void add_malformed(std::string_view json, std::size_t position, Findings& findings) {
  const std::size_t at = std::min(position == 0 ? 0 : position - 1, json.size());
  const std::string_view before = json.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto line_start = before.rfind('\n');
  const std::size_t column = at - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  const std::string_view rest = json.substr(at, 20);
  findings.add_broken("$",
                      (rest.empty() ? "the end of the text" : json_string(rest)) + " on line " + std::to_string(line) +
                          ", column " + std::to_string(column),
                      "well-formed JSON");
}

}  // namespace

std::optional<Json> parse_json(std::string_view text, Findings& findings) {
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {  // the parser would take it for the end
    add_malformed(text, zero + 1, findings);
    return std::nullopt;
  }
  std::string masked;
  const std::vector<std::string_view> numbers = numbers_of(text, masked);
  TreeBuilder builder(numbers, findings);
  const std::size_t before = findings.errors().size();
  const bool complete = nlohmann::json::sax_parse(masked, &builder);
  if (complete) return builder.take();
  if (builder.malformed_at() != 0 || findings.errors().size() == before)
    add_malformed(text, builder.malformed_at(), findings);
  return std::nullopt;
}

}  // namespace tally
