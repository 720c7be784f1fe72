// run.json, and what a run that is not the whole campaign says of launch paths.
#include "reports/command_line/verify/run_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "reports/record/triggers.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

std::string of_named(const std::vector<ReachedRow>& rows, std::string kernel) {
  std::replace(kernel.begin(), kernel.end(), '=', '/');
  std::size_t seen = 0, wanted = 0;
  std::string missing;
  for (const ReachedRow& row : rows) {
    if (row.group != kernel) continue;
    seen += row.seen();
    wanted += row.wanted();
    for (const ReachedRow::Item& item : row.items) {
      if (item.seen > 0 || !item.out_of_reach.empty()) continue;
      missing += "    did not run: " + (row.name.empty() ? "" : row.name + ": ") + item.name + "\n";
    }
  }
  const std::string counts = kernel + ": " + grouped(seen) + " of " + grouped(wanted) + " launch paths ran\n";
  return "  " + (missing.empty() ? counts : "warning: " + counts + missing);
}

/// Kernels that ran, and those of them that ran on all of their paths.
std::string of_all(const std::vector<ReachedRow>& rows) {
  std::size_t ran = 0, whole = 0;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t seen = 0, wanted = 0;
    const std::string& kernel = rows[i].group;
    for (; i < rows.size() && rows[i].group == kernel; ++i) seen += rows[i].seen(), wanted += rows[i].wanted();
    ran += seen > 0;
    whole += seen > 0 && seen == wanted;
  }
  if (ran == whole) return "";
  return "  warning: of " + grouped(ran) + " kernels that ran, " + grouped(ran - whole) +
         " did not run on all of their launch paths; the page says on which\n";
}

}  // namespace

std::string launch_path_words(const Results& results, const std::vector<std::string>& kernels) {
  if (results.triggers_required) return "";
  const std::vector<ReachedRow> rows = reached_rows(results.triggers, "path");
  std::string text;
  for (const std::string& kernel : kernels) text += of_named(rows, kernel);
  return kernels.empty() ? of_all(rows) : text;
}

namespace {

std::string utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string content_of_fact(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Word by word, as the system has it.
nlohmann::json command_line_words() {
  nlohmann::json words = nlohmann::json::array();
  std::istringstream all(content_of_fact("/proc/self/cmdline"));
  for (std::string word; std::getline(all, word, '\0');) words.push_back(word);
  return words;
}

/// The line that the NVIDIA driver says of itself; empty without one.
std::string driver() {
  std::istringstream all(content_of_fact("/proc/driver/nvidia/version"));
  std::string line;
  std::getline(all, line);
  return line;
}

}  // namespace

RunFacts::RunFacts() : started_(std::chrono::system_clock::now()), from_(std::chrono::steady_clock::now()) {}

FileText RunFacts::file(const std::filesystem::path& folder, const std::string& results_json, int exit_code,
                        const std::string& across) const {
  utsname system{};
  uname(&system);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from_;
  nlohmann::json facts = {{"schema", 1},
                          {"started", utc(started_)},
                          {"seconds", took.count()},
                          {"host", system.nodename},
                          {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
                          {"processors", std::thread::hardware_concurrency()},
                          {"driver", driver()},
                          {"command", command_line_words()},
                          {"exit_code", exit_code},
                          {"results_sha256", hex(sha256_digest(results_json))}};
  if (!across.empty()) facts["across"] = nlohmann::json::parse(across);
  const std::string text = facts.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {(folder / "run.json").string(), text + "\n"};
}

}  // namespace tally::command_line
