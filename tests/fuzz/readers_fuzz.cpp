// Any bytes given to the readers of stored files: each is refused with one line of text, or read and written again into
// bytes that read and write to themselves. The first byte says which reader.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reports/gate/baseline.hpp"
#include "reports/gate/waivers.hpp"
#include "reports/history/history.hpp"
#include "reports/record/record.hpp"
#include "reports/record/vary.hpp"

namespace {

[[noreturn]] void give_up(const std::string& what, const std::string& text) {
  std::cerr << what << ": " << text << "\n";
  std::abort();
}

std::string history_again(std::string_view text) {
  std::string out;
  for (const tally::HistoryEntry& entry : tally::history_of_lines(text)) out += to_json_line(entry);
  return out;
}

/// What the reader makes of the text, written.
std::string rewritten(char reader, std::string_view text) {
  switch (reader) {
    case 'r':
      return to_json(tally::results_of_json(text));
    case 's':
      return to_json(tally::study_of_json(text));
    case 'b':
      return to_json(tally::baseline_of_json(text));
    case 'h':
      return history_again(text);
    case 'v':
      tally::vary_runs_of(text, "vary.json");
      return "";
    default:
      tally::waivers_of_toml(text);
      return "";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char reader = static_cast<char>(data[0]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string once;
  try {
    once = rewritten(reader, text);
  } catch (const std::runtime_error& refusal) {
    const std::string message = refusal.what();
    if (message.empty() || message.find('\n') != std::string::npos) give_up("not one line", message);
    return 0;
  }
  if (reader != 'r' && reader != 's' && reader != 'b' && reader != 'h') return 0;
  if (rewritten(reader, once) != once) give_up("does not read and write to itself", once);
  return 0;
}
