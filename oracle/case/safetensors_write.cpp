#include "oracle/case/formats.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

Json sizes(const std::vector<std::int64_t>& values) {
  Json list = Json::array();
  for (const std::int64_t value : values) list.items.push_back(Json::of_number(std::to_string(value)));
  return list;
}

Json written_header(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) {
    Json& metadata = header.add("__metadata__", Json::object());
    for (const auto& [key, value] : file.metadata) metadata.add(key, Json::of_string(value));
  }
  std::int64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    Json& entry = header.add(name, Json::object());
    const std::int64_t end = offset + static_cast<std::int64_t>(tensor.bytes.size());
    entry.add("dtype", Json::of_string(std::string(format_row(tensor.dtype).safetensors)));
    entry.add("shape", sizes(tensor.shape));
    entry.add("data_offsets", sizes({offset, end}));
    offset = end;
  }
  return header;
}

}  // namespace

std::string write_safetensors(const TensorFile& file) {
  std::string header = to_text(written_header(file), JsonLayout::compact);
  header.pop_back();  // the newline
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(std::uint64_t{header.size()} >> (8 * i) & 0xff);
  bytes += header;
  for (const auto& [name, tensor] : file.tensors)
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

}  // namespace tally
