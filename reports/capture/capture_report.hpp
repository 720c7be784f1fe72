// The files of one judged capture: its page for people, its document for programs.
// Defined in files.cpp, page.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/capture_json.hpp"
#include "reports/record/write_together.hpp"

namespace tally {

/// One file that fetches nothing and runs nothing; the same bytes for the same capture. `document` is to_json() of it,
/// whose hash the page names.
std::string capture_html(const CaptureRecord& capture, std::string_view document);

/// check.json and report.html, as they are to stand in the folder.
std::vector<FileText> capture_files(const CaptureRecord& capture, const std::filesystem::path& folder);

/// "FAIL  every micro-batch is divided by its own items", "PASS  59 tensor checks inside their bounds".
std::string headline_of(const CaptureRecord& capture);

}  // namespace tally
