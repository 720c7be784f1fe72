#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "oracle/case/decimal.hpp"
#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/json_numbers.hpp"
#include "oracle/case/limits.hpp"

namespace tally {
namespace {

constexpr std::size_t deepest = 32;

/// Receives the parser's events and builds the tree; `false` stops the parser.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const NumberedText& numbered, Findings& findings) : numbered_(numbered), findings_(findings) {}

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(Json::of_boolean(value)); }
  bool number_integer(number_integer_t) override { return false; }  // an ordinal is never negative
  bool number_unsigned(number_unsigned_t ordinal) override {
    return put_number(std::string(numbered_.numbers.at(ordinal)));
  }
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
  /// One past the byte, in the numbered text, that cannot follow.
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

  const NumberedText& numbered_;
  Findings& findings_;
  std::vector<Level> open_;
  Json root_;
  std::size_t malformed_at_ = 0, taken_ = 0;
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
  const NumberedText numbered = number_the_numbers(text, most_values + 1);
  TreeBuilder builder(numbered, findings);
  const std::size_t before = findings.errors().size();
  const bool complete = nlohmann::json::sax_parse(numbered.text, &builder);
  if (complete) return builder.take();
  if (builder.malformed_at() != 0 || findings.errors().size() == before)
    add_malformed(text, numbered.original_position(builder.malformed_at()), findings);
  return std::nullopt;
}

}  // namespace tally
