// The safetensors format, read and written, and a case's file of it.
#include "oracle/case/file/safetensors.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/tensors/regular_file.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

constexpr std::size_t length_bytes = 8;
/// Below it a file is read, which takes less than to map it.
constexpr std::uint64_t least_mapped = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw std::runtime_error("safetensors: " + where + ": " + what);
}

struct Entry {
  std::string name;
  Dtype dtype = Dtype::fp32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

/// A foreign name may be as long as its file.
std::string named_tensor(const std::string& name) { return json_string(name.substr(0, 80)); }

std::vector<std::int64_t> read_entry_sizes(const Json& entry, std::string_view key, const std::string& where) {
  const Json* list = entry.member(key);
  if (list == nullptr) refuse(where, std::string(key) + " is missing");
  if (!list->is(Json::Kind::array)) refuse(where, std::string(key) + " is " + shown(*list) + ", no list");
  std::vector<std::int64_t> values;
  for (const Json& item : list->items) {
    const auto value = item.is(Json::Kind::number) ? exact_integer(item.text) : std::nullopt;
    if (!value || *value < 0) refuse(where, std::string(key) + " holds " + shown(item));
    values.push_back(*value);
  }
  return values;
}

Dtype read_dtype(const Json& entry, const std::string& where) {
  const Json* word = entry.member("dtype");
  if (word != nullptr && word->is(Json::Kind::string))
    for (const FormatRow& row : format_rows)
      if (word->text == row.safetensors) return row.dtype;
  std::string known;
  for (const FormatRow& row : format_rows) known += (known.empty() ? "" : ", ") + std::string(row.safetensors);
  refuse(where, "dtype " + (word == nullptr ? "is missing" : shown(*word)) + ", not one of " + known);
}

/// Checked against the bytes there are, so that no memory is taken for what is not there.
Entry read_entry(const std::string& name, const Json& json, std::uint64_t available) {
  const std::string where = "tensor " + named_tensor(name);
  if (!json.is(Json::Kind::object)) refuse(where, "its entry is " + shown(json));
  Entry entry{name, read_dtype(json, where), read_entry_sizes(json, "shape", where)};
  const auto offsets = read_entry_sizes(json, "data_offsets", where);
  if (json.keys.size() != 3) refuse(where, "its entry has keys besides dtype, shape and data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse(where, "data_offsets " + to_string(offsets) + " are no begin and end");
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);
  if (entry.end > available)
    refuse(where, "data_offsets " + to_string(offsets) + " beside " + std::to_string(available) +
                      " bytes of data: the file is cut short, or says more than it holds");
  std::size_t elements = 0;
  try {
    elements = elements_of(entry.shape);
  } catch (const std::length_error& error) {
    refuse(where, error.what());
  }
  if (entry.end - entry.begin != elements * size_of(entry.dtype))
    refuse(where, "data_offsets " + to_string(offsets) + " do not fit " + std::string(name_of(entry.dtype)) + " " +
                      to_string(entry.shape));
  return entry;
}

void read_metadata(const Json& json, TensorFile& file) {
  if (!json.is(Json::Kind::object)) refuse("__metadata__", "it is " + shown(json));
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    if (!json.items[i].is(Json::Kind::string)) refuse("__metadata__", json_string(json.keys[i]) + " is no string");
    file.metadata.emplace(json.keys[i], json.items[i].text);
  }
}

Json read_header(std::string_view text) {
  Findings findings;
  auto header = parse_json(text, findings);
  if (!findings.empty()) refuse("header", InvalidCase(findings.errors()).what());
  if (!header || !header->is(Json::Kind::object)) refuse("header", "it is no JSON object");
  return *std::move(header);
}

/// The header's length, held against the bytes there are.
std::uint64_t header_length(std::string_view start, std::uint64_t size) {
  if (start.size() < length_bytes) refuse("header", std::to_string(start.size()) + " bytes are no header length");
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(start[i]);
  if (length > longest_header || length > size - length_bytes)
    refuse("header", "length " + std::to_string(length) + " in a file of " + std::to_string(size) +
                         " bytes; expected all of it there, and at most " + std::to_string(longest_header));
  return length;
}

/// `"a" at [0, 8]`: where the header says that it lies.
std::string placed(const Entry& entry) {
  return named_tensor(entry.name) + " at [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
}

/// The data must be covered exactly once, in some order of the tensors.
void check_coverage(std::vector<Entry>& entries, std::uint64_t available) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t covered = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (entry.begin < covered) refuse("tensors", placed(*before) + " and " + placed(entry) + " overlap");
    if (entry.begin > covered)
      refuse("data", "bytes " + std::to_string(covered) + " to " + std::to_string(entry.begin) +
                         " belong to no tensor, before " + placed(entry));
    covered = entry.end;
    before = &entry;
  }
  if (covered != available) refuse("data", std::to_string(available - covered) + " bytes belong to no tensor");
}

/// The tensors that a header tells of; `take` gives the bytes of an entry.
template <class Take>
TensorFile read_tensors(std::string_view header_text, std::uint64_t available, Take take) {
  const Json header = read_header(header_text);
  TensorFile file;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    if (header.keys[i] == "__metadata__")
      read_metadata(header.items[i], file);
    else
      entries.push_back(read_entry(header.keys[i], header.items[i], available));
  }
  check_coverage(entries, available);
  for (Entry& entry : entries) {
    Bytes bytes = take(entry);
    file.tensors.emplace(std::move(entry.name), Tensor(entry.dtype, std::move(entry.shape), std::move(bytes)));
  }
  return file;
}

RegularFile opened(const std::filesystem::path& file) {
  try {
    return RegularFile(file);
  } catch (const std::runtime_error& reason) {
    refuse("file", std::string(reason.what()) + "; expected a safetensors file");
  }
}

std::string header_of(const RegularFile& bytes) {
  if (bytes.size() > most_tensor_file)
    refuse("file", std::to_string(bytes.size()) + " bytes; expected at most " + std::to_string(most_tensor_file));
  std::string start(std::min<std::uint64_t>(length_bytes, bytes.size()), '\0');
  bytes.read(0, start.data(), start.size());
  std::string header(header_length(start, bytes.size()), '\0');
  bytes.read(length_bytes, header.data(), header.size());
  return header;
}

}  // namespace

TensorFile read_safetensors(std::string_view bytes) {
  const std::uint64_t length = header_length(bytes, bytes.size());
  const std::string_view data = bytes.substr(length_bytes + length);
  const auto take = [&](const Entry& entry) {
    const auto* from = reinterpret_cast<const std::byte*>(data.data());
    return Bytes(std::vector<std::byte>(from + entry.begin, from + entry.end));
  };
  return read_tensors(bytes.substr(length_bytes, length), data.size(), take);
}

TensorFile read_safetensors_file(const std::filesystem::path& file) {
  const RegularFile bytes = opened(file);
  const std::string header = header_of(bytes);
  const std::uint64_t data = length_bytes + header.size();
  const auto mapped = bytes.size() < least_mapped ? nullptr : mapped_under(file.string(), bytes);
  const auto take = [&](const Entry& entry) {
    const std::uint64_t begin = data + entry.begin, count = entry.end - entry.begin;
    // Elements are read where they lie, if they lie as they would in memory of their own.
    if (mapped && begin % size_of(entry.dtype) == 0) return Bytes(mapped, begin, count);
    std::vector<std::byte> own(count);
    if (count > 0) bytes.read(begin, own.data(), count);
    return Bytes(std::move(own));
  };
  return read_tensors(header, bytes.size() - data, take);
}

std::map<std::string, std::string> safetensors_metadata(const std::filesystem::path& file) {
  const Json header = read_header(header_of(opened(file)));
  TensorFile content;
  if (const Json* metadata = header.member("__metadata__")) read_metadata(*metadata, content);
  return std::move(content.metadata);
}

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

namespace {

namespace fs = std::filesystem;

/// The file's real path; nullopt when the name is absolute or empty, climbs with "..", or leads out of the folder
/// through a symbolic link.
std::optional<fs::path> inside(const fs::path& folder, const std::string& name) {
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos || relative.has_root_path()) return std::nullopt;
  if (std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end()) return std::nullopt;
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return std::nullopt;
  const fs::path real = fs::weakly_canonical(root / relative, error);
  if (error) return std::nullopt;
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (end != root.end()) return std::nullopt;
  return real;
}

}  // namespace

std::map<std::string, Tensor> read_tensor_file(const Json& json, const std::string& path, const fs::path& folder,
                                               Findings& findings) {
  ObjectReader object(&json, path, findings);
  const std::string at = object.path("file");
  const auto name = read_text(object.required("file"), at, findings);
  object.finish();
  if (!name) return {};
  const auto broken = [&](const std::string& found, const char* expected) {
    findings.add_broken(path, "\"file\": " + found, expected);
    return std::map<std::string, Tensor>{};
  };
  const std::string found = shown(Json::of_string(*name));
  if (folder.empty()) return broken(found, "inline tensors, as this case is not in a folder");
  const auto file = inside(folder, *name);
  if (!file) return broken(found, "a relative path that stays inside the case's folder");
  try {
    return read_safetensors_file(*file).tensors;
  } catch (const std::exception& error) {
    const std::string why = error.what();
    return broken(found + ": " + why.substr(0, why.find("; expected ")), "a readable safetensors file");
  }
}

}  // namespace tally
