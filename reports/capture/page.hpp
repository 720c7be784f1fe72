// The files of one judged capture: its page for people, section by section, its document for programs. Defined in
// page.cpp, stages.cpp, failure.cpp.
#pragma once

#include <compare>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/record/capture_json.hpp"
#include "reports/record/files.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// One file that fetches nothing and runs nothing; the same bytes for the same capture. `document` is to_json() of it,
/// whose hash the page names.
std::string capture_html(const CaptureRecord& capture, std::string_view document);

/// check.json and report.html, as they are to stand in the folder.
std::vector<FileText> capture_files(const CaptureRecord& capture, const std::filesystem::path& folder);

/// "FAIL  every micro-batch is divided by its own items", "PASS  59 tensor checks inside their bounds".
std::string headline_of(const CaptureRecord& capture);

// The checks of a capture by stage and micro-batch.

/// What was judged of one stage in one place.
struct StageCell {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  double worst = 0;    // error / bound, of what passed or failed
  std::string tap;     // of that
  bool first = false;  // the first failure of all is here
  /// A failure beats what is missing, that beats all else; vacuous only where nothing passed.
  Status status() const;
};

/// A micro-batch, or with -1 the stages of its whole window.
struct StageColumn {
  int window = 0, micro_batch = -1;
  auto operator<=>(const StageColumn&) const = default;
  /// "w0 m3", "w0".
  std::string name() const;
};

struct StageGrid {
  std::vector<std::string> stages;   // rows
  std::vector<StageColumn> columns;  // in running order
  std::map<std::pair<std::string, StageColumn>, StageCell> cells;
  /// Columns beyond those that a page holds: those that tell least are left out, which are counted here.
  std::size_t columns_left_out = 0;
  const StageCell* at(const std::string& stage, const StageColumn& column) const;
};

StageGrid stage_grid(const CaptureRecord& capture, std::size_t most_columns);

/// Where a tap stands; false where it names no place. "w0/m3/loss/loss" is column {0, 3}, of any rank
/// and any stage of a pipeline.
bool column_of(std::string_view tap, StageColumn& column);

// The sections of a capture's page. A section with nothing to say writes nothing.

void capture_header(Markup& page, const CaptureRecord& capture);
/// Stages against micro-batches, each cell with a sign and a colour.
void capture_grid_section(Markup& page, const CaptureRecord& capture);
/// Ranks that train together against stages.
void capture_ranks_section(Markup& page, const CaptureRecord& capture);
/// The tensors outside their bounds, the first failure first.
void capture_failure_section(Markup& page, const CaptureRecord& capture);
/// Known bugs whose formula explains the error.
void capture_suspects_section(Markup& page, const CaptureRecord& capture);
/// A row a stage, with its counts and its tensor nearest to the limit.
void capture_stages_section(Markup& page, const CaptureRecord& capture);
/// What was not judged and why, what was assumed, what the subject claims.
void capture_words_sections(Markup& page, const CaptureRecord& capture);
void capture_reading_section(Markup& page, const CaptureRecord& capture);

/// How many checks failed, an error counted as one.
std::size_t failed_checks(const CaptureRecord& capture);

}  // namespace tally
