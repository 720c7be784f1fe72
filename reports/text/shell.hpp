#pragma once

#include <string>

namespace tally {

/// A word as a shell takes it whole: quoted where it must be.
std::string shell_word(const std::string& word);

}  // namespace tally
