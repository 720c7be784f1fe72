#include <filesystem>
#include <utility>

#include "reports/capture/capture_report.hpp"

namespace tally {

std::vector<FileText> capture_files(const CaptureRecord& capture, const std::filesystem::path& folder) {
  std::string document = to_json(capture), page = capture_html(capture, document);
  return {{(folder / "check.json").string(), std::move(document)},
          {(folder / "report.html").string(), std::move(page)}};
}

}  // namespace tally
