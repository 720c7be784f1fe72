// A recording of a program's operations, as tally_recorder writes it: `operations.jsonl`, a line for each operation and
// each block of bits that is first named there, and `bits.bin` with the blocks. Both are read as they stand: what a run
// that was killed left is judged up to there. Defined in recording.cpp.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "oracle/case/tensors/bytes.hpp"
#include "oracle/operations/call.hpp"
#include "reports/record/operations.hpp"

namespace tally {

/// One recorded operation: the call, and where in the program it stands.
struct RecordedCall {
  std::int64_t number = 0, step = 0;
  oracle::operations::Call call;
  std::string where, module, phase;
  std::string line;    // as it was read
  BlockPlaces blocks;  // that it names
};

/// The claims of a profile's document: {"claims": {"sqrt/float32/ulps": {"value": 1, "evidence": "…"}}}. Throws
/// std::runtime_error with what was found and what was expected.
std::map<std::string, double> claims_of_profile(const std::string& json);

/// Reads a recording line by line; several threads may ask for the next call.
class Recording {
 public:
  /// Throws std::runtime_error with the file, what was found and what was expected.
  explicit Recording(const std::string& folder);

  const RecordingHeader& header() const { return header_; }
  /// The next operation; nullopt behind the last. Throws std::runtime_error for a line that is none of the format's, with
  /// its number, but not for a last line that was not written to its end.
  std::optional<RecordedCall> next();

  /// Once next() has given nullopt.
  bool ended() const { return ended_; }                               // the run was recorded to its end
  std::int64_t seen() const { return seen_; }                         // operations, by the last line
  double share_read() const;                                          // of the file, for progress
  const std::vector<std::string>& unseen() const { return unseen_; }  // what the recorder could not see

 private:
  struct Block {
    std::uint64_t at, bytes;
  };
  class Line;
  std::string place() const;
  [[noreturn]] void wrong(const std::string& found, const std::string& expected) const;

  std::string folder_;
  std::ifstream lines_;
  std::unique_ptr<MappedFile> bits_;
  std::unordered_map<std::int64_t, Block> blocks_;
  RecordingHeader header_;
  std::mutex mutex_;
  std::int64_t line_ = 0, seen_ = 0, read_calls_ = 0;
  std::uint64_t size_ = 1, read_ = 0;
  bool ended_ = false, over_ = false;
  std::vector<std::string> unseen_;
};

}  // namespace tally
