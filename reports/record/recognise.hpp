// Whether a file is one that Tally writes, by its name and how it begins.
#pragma once

#include <filesystem>

namespace tally {

/// Results, run facts, studies and judged captures, pages, JUnit and Markdown. What is not there, or empty, is nobody's and may be
/// written.
bool may_be_replaced(const std::filesystem::path& file);
/// An exact answer, or nothing.
bool may_be_replaced_by_answer(const std::filesystem::path& file);

}  // namespace tally
