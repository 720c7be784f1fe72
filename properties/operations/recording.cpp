#include "properties/operations/recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "oracle/case/tensors/regular_file.hpp"

namespace tally {
namespace {

using nlohmann::json;
using oracle::operations::Call;
using oracle::operations::Element;
using oracle::operations::Unrecorded;
using oracle::operations::Value;
using oracle::operations::Values;
using oracle::operations::View;

constexpr int deepest = 24;  // levels of a line's lists
constexpr std::size_t most_dimensions = 64;
constexpr const char* lines_file = "operations.jsonl";
constexpr const char* bits_file = "bits.bin";

json parsed(const std::string& text) {
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > deepest) throw std::runtime_error("more than " + std::to_string(deepest) + " levels of lists");
    return true;
  });
}

double hexadecimal(const std::string& text) {
  if (text == "nan") return NAN;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw std::runtime_error("the number \"" + text + "\"");
  return value;
}

/// "aten.add_.Tensor": the operation is "add".
std::string bare_name(const std::string& full) {
  const std::size_t first = full.find('.');
  std::string name = first == std::string::npos ? full : full.substr(first + 1);
  name = name.substr(0, name.find('.'));
  if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  return name;
}

constexpr double most_claimed = 65536;  // ulps: with more a kernel says nothing

std::map<std::string, double> claims_in(const json& profile) {
  std::map<std::string, double> all;
  if (!profile.contains("claims")) return all;
  for (const auto& [name, claim] : profile.at("claims").items()) {
    const json& value = claim.is_object() ? claim.at("value") : claim;
    if (std::count(name.begin(), name.end(), '/') != 2 || !value.is_number() || !(value.get<double>() >= 0) ||
        value.get<double>() > most_claimed)
      throw std::runtime_error("the claim \"" + name + "\": " + value.dump() +
                               ", expected \"operation/format/claim\" with a number of at least 0 and at most 65536");
    all[name] = value.get<double>();
  }
  return all;
}

}  // namespace

std::map<std::string, double> claims_of_profile(const std::string& text) {
  try {
    return claims_in(parsed(text));
  } catch (const json::exception&) {
    throw std::runtime_error("no JSON, expected a profile with its \"claims\"");
  }
}

/// One line's values, which name blocks.
class Recording::Line {
 public:
  Line(const MappedFile* bits, const std::unordered_map<std::int64_t, Block>& blocks, BlockPlaces& named)
      : bits_(bits), blocks_(blocks), named_(named) {}

  Value value(const json& from) const {
    if (from.is_null()) return {};
    if (from.is_boolean()) return {from.get<bool>()};
    if (from.is_number_integer()) return {from.get<std::int64_t>()};
    if (from.is_number()) return {from.get<double>()};
    if (from.is_string()) return {from.get<std::string>()};
    if (from.is_array()) {
      Values all;
      for (const json& each : from) all.push_back(value(each));
      return {std::move(all)};
    }
    if (from.contains("b")) return tensor(from);
    if (from.contains("u")) return {Unrecorded{from.at("u").get<std::string>()}};
    if (from.contains("f")) return {hexadecimal(from.at("f").get<std::string>())};
    for (const char* word : {"dtype", "device", "layout", "memory_format", "other"})
      if (from.contains(word)) return {from.at(word).get<std::string>()};
    throw std::runtime_error("a value of an unknown kind");
  }

 private:
  Value tensor(const json& from) const {
    View view;
    const std::string format = from.at("d").get<std::string>();
    const std::optional<Element> element = oracle::operations::element_of(format);
    if (!element) return {Unrecorded{"the format " + format}};
    view.element = *element;
    view.sizes = from.at("s").get<std::vector<std::int64_t>>();
    view.strides = from.at("r").get<std::vector<std::int64_t>>();
    view.offset = from.at("o").get<std::int64_t>();
    view.block = from.at("b").get<std::int64_t>();
    if (view.sizes.size() != view.strides.size() || view.sizes.size() > most_dimensions)
      throw std::runtime_error("a tensor with " + std::to_string(view.sizes.size()) + " sizes and " +
                               std::to_string(view.strides.size()) + " strides");
    const auto found = blocks_.find(view.block);
    if (found == blocks_.end())
      throw std::runtime_error("block " + std::to_string(view.block) + ", which no line before it has");
    named_[view.block] = found->second.at;
    const auto bytes = static_cast<std::int64_t>(oracle::operations::size_of(view.element));
    // Every element lies in its block.
    long double low = view.offset, high = view.offset, count = 1, most = 1;  // most: where no size is 0
    for (std::size_t i = 0; i < view.sizes.size(); ++i) {
      if (view.sizes[i] < 0) throw std::runtime_error("a size below 0");
      count *= static_cast<long double>(view.sizes[i]);
      most *= static_cast<long double>(std::max<std::int64_t>(view.sizes[i], 1));
      const long double reach = static_cast<long double>(view.sizes[i] - 1) * static_cast<long double>(view.strides[i]);
      (reach < 0 ? low : high) += reach;
    }
    if (most > 0x1p33L) throw std::runtime_error("a tensor of more than 2^33 elements");
    if (count > 0 &&
        (low < 0 || (high + 1) * static_cast<long double>(bytes) > static_cast<long double>(found->second.bytes)))
      throw std::runtime_error("a tensor beyond the end of block " + std::to_string(view.block));
    if (count > 0) view.first = bits_->data() + found->second.at + static_cast<std::uint64_t>(view.offset * bytes);
    return {std::move(view)};
  }

  const MappedFile* bits_;
  const std::unordered_map<std::int64_t, Block>& blocks_;
  BlockPlaces& named_;
};

std::string Recording::place() const { return folder_ + "/" + lines_file + ", line " + std::to_string(line_); }

void Recording::wrong(const std::string& found, const std::string& expected) const {
  throw std::runtime_error(place() + ": found " + found + ", expected " + expected +
                           "; record the run again with python -m tally_recorder operations");
}

Recording::Recording(const std::string& folder) : folder_(folder) {
  const std::filesystem::path lines = std::filesystem::path(folder) / lines_file,
                              bits = std::filesystem::path(folder) / bits_file;
  try {
    size_ = std::max<std::uint64_t>(RegularFile(lines).size(), 1);
    const RegularFile file(bits);
    if (file.size() > 0) bits_ = std::make_unique<MappedFile>(file);
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(folder + ": " + problem.what() + ", expected a folder with " + lines_file + " and " +
                             bits_file + ", as python -m tally_recorder operations writes it");
  }
  lines_.open(lines);
  std::string text;
  if (!std::getline(lines_, text)) wrong("nothing", "the line that begins a recording");
  line_ = 1;
  read_ += text.size() + 1;
  try {
    const json header = parsed(text);
    if (!header.is_object() || header.value("tally", "") != "operations")
      wrong("another kind of file", "a recording of operations");
    if (header.value("version", 0) != 1) wrong("version " + header.value("version", json()).dump(), "version 1");
    header_.framework = header.value("torch", "");
    header_.profile = header.value("profile", "");
    header_.devices = header.value("devices", std::vector<std::string>{});
    header_.threads = header.value("threads", std::int64_t{0});
    header_.share = header.value("share", 1.0);
    header_.claims = claims_in(header);
  } catch (const json::exception&) {
    wrong("no JSON", "the line that begins a recording");
  }
}

double Recording::share_read() const { return static_cast<double>(read_) / static_cast<double>(size_); }

std::optional<RecordedCall> Recording::next() {
  const std::lock_guard lock(mutex_);
  std::string text;
  while (!over_ && std::getline(lines_, text)) {
    ++line_;
    read_ += text.size() + 1;
    const bool whole = !lines_.eof();  // its end was written
    json line;
    try {
      line = parsed(text);
      if (line.contains("block")) {
        const Block block{line.at("at").get<std::uint64_t>(), line.at("bytes").get<std::uint64_t>()};
        const std::uint64_t size = bits_ ? bits_->size() : 0;
        if (block.at > size || block.bytes > size - block.at)
          wrong("a block of bits beyond the end of " + std::string(bits_file),
                "its " + std::to_string(block.bytes) + " bytes");
        blocks_[line.at("block").get<std::int64_t>()] = block;
        continue;
      }
      if (line.contains("unseen")) {
        unseen_.push_back(line.at("unseen").get<std::string>() +
                          (line.contains("where") ? ", at " + line.at("where").get<std::string>() : ""));
        continue;
      }
      if (line.contains("end")) {
        ended_ = true;
        seen_ = line.value("seen", std::int64_t{0});
        const std::int64_t recorded = line.value("recorded", read_calls_);
        if (recorded != read_calls_)
          unseen_.push_back("the recording ends with " + std::to_string(recorded) + " operations, and has " +
                            std::to_string(read_calls_) + ": lines were lost or added");
        continue;
      }
      ++read_calls_;
      RecordedCall recorded;
      recorded.number = line.at("i").get<std::int64_t>();
      recorded.step = line.value("step", std::int64_t{0});
      recorded.where = line.value("where", "");
      recorded.module = line.value("module", "");
      recorded.phase = line.value("phase", "");
      Call& call = recorded.call;
      call.full = line.at("op").get<std::string>();
      call.name = bare_name(call.full);
      const Line values(bits_.get(), blocks_, recorded.blocks);
      for (const auto& [key, value] : line.at("args").items()) call.arguments[key] = values.value(value);
      for (const json& value : line.at("out")) call.out.push_back(values.value(value));
      if (line.contains("wrote"))
        for (const auto& [key, value] : line.at("wrote").items()) call.wrote[key] = values.value(value);
      recorded.line = std::move(text);
      return recorded;
    } catch (const json::exception&) {
      if (!whole) break;  // the run was killed as it wrote it
      wrong("no line of a recording", "an operation, or a block of bits");
    } catch (const std::runtime_error& problem) {
      if (std::string(problem.what()).starts_with(place())) throw;
      wrong(problem.what(), "a value of the format");
    }
  }
  over_ = true;
  return std::nullopt;
}

}  // namespace tally
