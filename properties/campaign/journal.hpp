// What a campaign over machines has found so far, in a file that only grows: a run that was ended goes on from it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace tally {

class Journal {
 public:
  /// `heading`: a line that tells this campaign from others. A new file. Throws std::runtime_error, as all below, where
  /// one is there or none can be made.
  static Journal begun(const std::filesystem::path& file, const std::string& heading);
  /// One that a run left behind; the answers in it are put into `answers`, by number. What was written last may not be
  /// whole: that is cut off. Throws where a whole record is none of this campaign's.
  static Journal resumed(const std::filesystem::path& file, std::vector<std::string>& answers);
  /// The first line of a file. Throws where it is no journal.
  static std::string heading_of(const std::filesystem::path& file);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  /// Written when it returns, so that a killed process loses none; on the disk within five seconds, if sync_when_due()
  /// is called now and then, so that neither does a machine that stops.
  void add(std::size_t number, const std::string& answer);
  void sync_when_due();
  void sync();
  /// The campaign is over and its report is written.
  void remove();

 private:
  Journal(std::filesystem::path file, int descriptor);
  void write_all(const std::string& text);

  std::filesystem::path file_;
  int descriptor_;
  bool synced_ = true;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace tally
