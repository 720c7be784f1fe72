// What `tally explain`, `tally doctor` and `tally graph` can say. Each part of Tally brings what it knows.
#pragma once

#include <filesystem>
#include <source_location>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/command_line/command.hpp"

namespace tally::command_line {

// What `tally explain` can say, by name: of laws, faults, suspects. Each kind stands in the part that knows it.

struct Explained {
  int place = 0;  // what several kinds have a name for is said in this order
  std::vector<std::string> (*names)() = nullptr;
  /// Prints what there is to say of that name; false where the kind has none such.
  bool (*explain)(const std::string& name) = nullptr;
};

struct RegisterExplained {
  explicit RegisterExplained(Explained kind, std::source_location at = std::source_location::current());
};

/// All kinds, by place.
std::vector<Explained> explained_kinds();

/// "a, b, c"; "none" for an empty list.
std::string listed_or_none(const std::vector<std::string>& words);

// What larger parts of Tally have `tally doctor` say besides, with options of their own.

using Examination = std::function<Action(CLI::App& command)>;

struct RegisterExamination {
  explicit RegisterExamination(Examination examination, std::source_location at = std::source_location::current());
};

std::vector<Examination> examinations();

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
