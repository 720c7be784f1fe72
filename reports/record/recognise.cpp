#include "reports/record/recognise.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace tally {
namespace {

constexpr std::size_t looked_at = 4096;

std::string head_of(const std::filesystem::path& file) {
  std::string head(looked_at, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The first key of results, of a run's facts, alone and over processes, of a study: keys are sorted.
bool is_json(std::string_view head) {
  if (!head.starts_with("{")) return false;
  head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \n", 1)));
  constexpr std::array keys{"\"campaign\":", "\"command\":", "\"across\":", "\"answer\":"};
  return std::any_of(keys.begin(), keys.end(), [head](const char* key) { return head.starts_with(key); });
}

/// How the document of a judged capture ends: keys are sorted, and what stands before may be long.
bool ends_as_check(const std::filesystem::path& file) {
  constexpr std::string_view mark = "\n \"tally_check\": 1,\n \"verdict\": \"";
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg(), looked_from = std::max<std::streamoff>(0, size - 64);
  std::string tail(static_cast<std::size_t>(size - looked_from), '\0');
  in.seekg(looked_from).read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return has(tail, mark) && tail.ends_with("\"\n}\n");
}

/// A verdict's mark, after the heading's two signs or at the start of the line below, or a comparison of runs.
bool is_markdown(std::string_view head) {
  if (!head.starts_with("## ")) return false;
  constexpr std::array marks{"\u2713 ", "\u2717 ", "\u25CB ", "\u2013 ", "\u203C "};
  return has(head, " of both runs, bits changed in ") ||
         std::any_of(marks.begin(), marks.end(), [head](const char* mark) {
           return head.substr(3).starts_with(mark) || has(head, std::string("\n\n**") + mark);
         });
}

/// The first key of an exact answer.
bool is_answer_text(std::string_view head) { return head.starts_with("{\"full_batch\":"); }

}  // namespace

bool may_be_replaced_by_answer(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return true;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  return std::filesystem::file_size(file, unknown) == 0 || is_answer_text(head_of(file));
}

bool may_be_replaced(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return true;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  if (std::filesystem::file_size(file, unknown) == 0) return true;
  const std::string head = head_of(file), ending = file.extension().string();
  if (ending == ".json") return is_json(head) || ends_as_check(file);
  if (ending == ".html") return has(head, "<title>Tally: ");
  if (ending == ".xml") return has(head, "<testsuites name=\"tally\">");
  return ending == ".md" && is_markdown(head);
}

}  // namespace tally
