#include "oracle/case/formats.hpp"

namespace tally {

std::vector<Dtype> formats_for(bool FormatUses::*use) {
  std::vector<Dtype> found;
  for (const FormatRow& row : format_rows)
    if (row.uses.*use) found.push_back(row.dtype);
  return found;
}

const std::vector<Dtype>& storage_formats() {
  static const std::vector<Dtype> formats = formats_for(&FormatUses::storage);
  return formats;
}

std::vector<std::string> names_of(const std::vector<Dtype>& formats) {
  std::vector<std::string> names;
  for (const Dtype format : formats) names.emplace_back(name_of(format));
  return names;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const FormatRow& row : format_rows) names.emplace_back(row.name);
  return names;
}

std::invalid_argument unsupported_format(Dtype dtype, std::string_view missing, std::source_location at) {
  return std::invalid_argument(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": no " +
                               std::string(missing) + " for " + std::string(name_of(dtype)));
}

}  // namespace tally
