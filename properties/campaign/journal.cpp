// What tells one campaign from another, and what it has found so far, in a file that only grows.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "oracle/case/io.hpp"
#include "properties/campaign/coordinator.hpp"

namespace tally {

std::string text_of(const Heading& heading) {
  const nlohmann::json json = {
      {"campaign", heading.campaign}, {"program", heading.program}, {"pieces", heading.pieces}, {"kept", heading.kept}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Heading heading_of(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    return {json.at("campaign"), json.at("program"), json.at("pieces"), json.at("kept")};
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error("found no heading of a campaign: " + text.substr(0, 80));
  }
}

std::string difference(const Heading& expected, const Heading& found) {
  if (found.campaign != expected.campaign)
    return "found the campaign '" + found.campaign + "'; expected '" + expected.campaign + "'";
  if (found.program != expected.program)
    return "found another build of tally, " + found.program.substr(0, 12) + "; expected " +
           expected.program.substr(0, 12);
  if (found.pieces != expected.pieces)
    return "found " + std::to_string(found.pieces) + " pieces; expected " + std::to_string(expected.pieces);
  return "";
}

std::vector<std::string> names_of(const std::vector<KeptCase>& cases) {
  std::vector<std::string> names;
  for (const KeptCase& kept : cases) names.push_back(kept.file.filename().string());
  return names;
}

std::vector<KeptCase> kept_cases_of(const std::filesystem::path& corpus, const std::vector<std::string>& names) {
  std::vector<KeptCase> found;
  const std::vector<KeptCase> all = names.empty() ? std::vector<KeptCase>() : kept_cases(corpus);
  for (const std::string& name : names) {
    const auto same = [&](const KeptCase& kept) { return kept.file.filename() == name; };
    const auto there = std::ranges::find_if(all, same);
    if (there == all.end())
      throw std::runtime_error((corpus / name).string() + ": not found; expected the case that the campaign replays");
    found.push_back(*there);
  }
  return found;
}

namespace {

constexpr const char* magic = "tally journal 1 ";
constexpr std::chrono::seconds longest_unsynced{5};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw std::runtime_error(file.string() + ": " + why);
}

/// A record: "piece <number> <bytes> <sha256>", a line; the bytes; the end of a line.
std::string record_of(std::size_t number, const std::string& answer) {
  return "piece " + std::to_string(number) + " " + std::to_string(answer.size()) + " " + sha256(answer) + "\n" +
         answer + "\n";
}

struct Record {
  std::size_t number, end;  // where the next one begins
  std::string answer;
};

std::optional<std::size_t> number_at(std::string_view text, std::size_t& at) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (problem != std::errc{}) return std::nullopt;
  at = static_cast<std::size_t>(end - text.data()) + 1;
  return value;
}

/// The whole record that begins there; nothing where it is cut short or spoilt.
std::optional<Record> record_at(const std::string& text, std::size_t at) {
  constexpr std::string_view word = "piece ";
  if (text.compare(at, word.size(), word) != 0) return std::nullopt;
  at += word.size();
  const auto number = number_at(text, at), size = number_at(text, at);
  const std::size_t line = text.find('\n', at);
  if (!number || !size || line == std::string::npos || text.size() - line - 1 <= *size) return std::nullopt;
  const std::string hash = text.substr(at, line - at);
  Record record{*number, line + *size + 2, text.substr(line + 1, *size)};
  if (text[record.end - 1] != '\n' || sha256(record.answer) != hash) return std::nullopt;
  return record;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) refuse(file, "cannot be read");
  return text;
}

}  // namespace

Journal::Journal(std::filesystem::path file, Descriptor descriptor)
    : file_(std::move(file)), descriptor_(std::move(descriptor)) {}

Journal Journal::begun(const std::filesystem::path& file, const std::string& heading) {
  Descriptor descriptor(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (descriptor < 0) refuse(file, std::string("cannot be made: ") + std::strerror(errno));
  Journal journal(file, std::move(descriptor));
  journal.put(magic + heading + "\n");
  journal.sync();
  return journal;
}

std::string Journal::heading_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  if (!std::getline(stream, line) || !line.starts_with(magic) || stream.eof())
    refuse(file, "found no journal; expected one that `tally verify --across` left behind");
  return line.substr(std::strlen(magic));
}

Journal Journal::resumed(const std::filesystem::path& file, std::vector<std::string>& answers) {
  std::size_t end = std::strlen(magic) + heading_of(file).size() + 1;
  const std::string text = contents(file);
  while (auto record = record_at(text, end)) {
    if (record->number >= answers.size())
      refuse(file, "found an answer of piece " + std::to_string(record->number + 1) + "; expected one of " +
                       std::to_string(answers.size()));
    answers[record->number] = std::move(record->answer);
    end = record->end;
  }
  Descriptor descriptor(open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(end)) != 0)
    refuse(file, std::string("cannot be written: ") + std::strerror(errno));
  return {file, std::move(descriptor)};
}

void Journal::put(const std::string& text) {
  if (!write_all(descriptor_, text)) refuse(file_, std::string("cannot be written: ") + std::strerror(errno));
  synced_ = false;
}

void Journal::add(std::size_t number, const std::string& answer) { put(record_of(number, answer)); }

void Journal::sync() {
  if (fsync(descriptor_) != 0) refuse(file_, std::string("does not reach the disk: ") + std::strerror(errno));
  synced_ = true;
  last_ = std::chrono::steady_clock::now();
}

void Journal::sync_when_due() {
  if (!synced_ && std::chrono::steady_clock::now() - last_ > longest_unsynced) sync();
}

void Journal::remove() { std::filesystem::remove(file_); }

}  // namespace tally
