// A mapped file that becomes shorter while it is read ends the program; these are its last words.
// Defined in mapped_file.cpp.
#pragma once

#include <memory>
#include <string>

#include "oracle/case/mapped_file.hpp"
#include "oracle/case/regular_file.hpp"

namespace tally {

/// The file, mapped; the line that ends the program calls it by this name.
std::shared_ptr<const MappedFile> mapped_under(const std::string& name, const RegularFile& file);

}  // namespace tally
