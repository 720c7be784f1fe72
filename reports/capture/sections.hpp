// The sections of a capture's page. A section with nothing to say writes nothing.
// Defined in failure.cpp, grid.cpp, header.cpp, reading.cpp, stages.cpp, words.cpp.
#pragma once

#include "reports/record/capture_json.hpp"
#include "reports/text/markup.hpp"

namespace tally {

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
