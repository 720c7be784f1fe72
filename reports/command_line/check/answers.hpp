// What `tally explain`, `tally doctor` and `tally graph` can say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally::command_line {

/// "a, b, c"; "none" for an empty list.
std::string listed_or_none(const std::vector<std::string>& words);

// How the program came to where it stands.

/// Told from what stands around the program: "wheel", "build", "Debian package", "cmake --install" or "copy", and the
/// folder. `root` is that of the system's packages.
std::string installation_of(const std::filesystem::path& program, const std::filesystem::path& root = "/");

// The graph of a case's first window, as text and as a picture: nodes by stage and place, and what each reads of whom.

/// A paragraph a node: what it reads, from whom, and what it leaves.
std::string graph_as_text(const Case& c);
/// An SVG file: stages from left to right, the window's own in the first line, each micro-batch's in one below.
std::string graph_as_picture(const Case& c);

}  // namespace tally::command_line
