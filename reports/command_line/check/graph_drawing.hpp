// The graph of a case's first window, as text and as a picture: nodes by stage and place, and what each reads of whom.
#pragma once

#include <string>

#include "oracle/case/case.hpp"

namespace tally::command_line {

/// A paragraph a node: what it reads, from whom, and what it leaves.
std::string graph_as_text(const Case& c);
/// An SVG file: stages from left to right, the window's own in the first line, each micro-batch's in one below.
std::string graph_as_picture(const Case& c);

}  // namespace tally::command_line
