// Inline tensors: one element from text to bits and back, and all of them.
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

/// Up to 15 digits and no exponent: such an integer is exactly its binary64.
bool is_short_integer(std::string_view text) {
  return text.size() <= 15 && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

std::optional<double> exact_double(const Json& element) {
  if (element.is(Json::Kind::string)) return hexadecimal_value(element.text);
  if (!element.is(Json::Kind::number)) return std::nullopt;
  const auto parts = decimal_parts(element.text);
  if (!parts) return std::nullopt;
  const double value = nearest_double(element.text);
  if (is_short_integer(element.text) || equals(*parts, value)) return value;
  return std::nullopt;
}

std::optional<std::int64_t> exact_whole(const Json& element) {
  if (element.is(Json::Kind::number)) return exact_integer(element.text);
  const auto value = exact_double(element);
  if (!value || !(std::fabs(*value) < 0x1p62) || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::optional<std::uint64_t> exact_bits(Dtype dtype, const Json& element) {
  if (dtype == Dtype::i64 || dtype == Dtype::u8) {
    const auto whole = exact_whole(element);
    if (!whole || (dtype == Dtype::u8 && (*whole < 0 || *whole > 255))) return std::nullopt;
    return static_cast<std::uint64_t>(*whole);
  }
  const auto value = exact_double(element);
  if (!value) return std::nullopt;
  const std::uint64_t bits = float_bits_of(dtype, *value);
  if (float_value_of(dtype, bits) != *value) return std::nullopt;
  return bits;
}

Json canonical_element(const Tensor& tensor, std::size_t i) {
  if (tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8)
    return Json::of_number(std::to_string(tensor.integer(i)));
  return Json::of_string(hexadecimal(tensor.value(i)));
}

void append_canonical(std::string& text, const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  if (whole) {
    text += std::to_string(tensor.integer(i));
    return;
  }
  text += '"';
  text += hexadecimal(tensor.value(i));
  text += '"';
}

namespace {

/// nullopt, with a finding, unless every size is an integer >= 0 and the product is within the limit.
std::optional<std::vector<std::int64_t>> read_shape(const Json* json, const std::string& path, Findings& findings) {
  if (json == nullptr) return std::nullopt;
  if (!json->is(Json::Kind::array)) {
    findings.add_broken(path, shown(*json), "a list of sizes");
    return std::nullopt;
  }
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < json->items.size(); ++i)
    if (const auto size = read_integer(&json->items[i], element_path(path, i), findings)) shape.push_back(*size);
  if (shape.size() != json->items.size()) return std::nullopt;
  try {
    if (elements_of(shape) <= most_elements) return shape;
  } catch (const std::length_error&) {  // reported below, as a product just above the limit is
  }
  findings.add_broken(path, to_string(shape), "sizes >= 0 with a product <= " + std::to_string(most_elements));
  return std::nullopt;
}

/// Where one inline tensor stands, and what has been read of it.
struct InlineTensor {
  std::string path;
  Dtype dtype;
  std::vector<std::int64_t> shape;
  Findings& findings;

  std::optional<Tensor> filled(const Json& data) const {
    const std::string at = member_path(path, "data");
    const std::string wanted = std::to_string(elements_of(shape)) + " elements, as the shape says";
    if (!data.is(Json::Kind::array) || data.items.size() != elements_of(shape)) {
      findings.add_broken(at, shown(data), wanted);
      return std::nullopt;
    }
    Tensor tensor(dtype, shape);
    constexpr std::size_t most_reported = 8;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < data.items.size() && wrong < most_reported; ++i) {
      const auto bits = exact_bits(dtype, data.items[i]);
      if (bits)
        tensor.set_bits(i, *bits);
      else
        ++wrong, note(data.items[i], element_path(at, i));
    }
    if (wrong != 0) return std::nullopt;
    return tensor;
  }

  void note(const Json& element, const std::string& at) const {
    if (!findings.sound(at)) return;  // a malformed number was reported by the parser
    findings.add_broken(
        at, shown(element),
        "a number, or a string holding a hexadecimal float, that " + std::string(name_of(dtype)) + " holds exactly");
  }
};

/// A seed may use all 64 bits.
std::optional<std::uint64_t> seed_of(const Json& json) {
  std::uint64_t seed = 0;
  const char* end = json.text.data() + json.text.size();
  const auto result = std::from_chars(json.text.data(), end, seed);
  if (!json.is(Json::Kind::number) || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return seed;
}

std::optional<Drawing> read_drawing(const Json& json, const std::string& path, Findings& findings) {
  const bool triple = json.is(Json::Kind::array) && json.items.size() == 3 && json.items[2].is(Json::Kind::string);
  const auto number = triple ? seed_of(json.items[0]) : std::nullopt;
  const auto seed = triple ? seed_of(json.items[1]) : std::nullopt;
  if (number && *number <= 1000 && seed) return Drawing{static_cast<int>(*number), *seed, json.items[2].text};
  findings.add_broken(path, shown(json), "[number, seed, family]");
  return std::nullopt;
}

class TensorReader {
 public:
  TensorReader(bool drawings, Findings& findings) : drawings_(drawings), findings_(findings) {}

  std::optional<Tensor> read(const Json& json, const std::string& path) {
    ObjectReader object(&json, path, findings_);
    const Json* drawing = drawings_ ? object.optional("drawing") : nullptr;
    const auto word = read_word(object.required("dtype"), object.path("dtype"), dtype_names(), findings_);
    const auto shape = read_shape(object.required("shape"), object.path("shape"), findings_);
    const Json* data = drawing == nullptr ? object.required("data") : nullptr;
    object.finish();
    if (!word || !shape) return std::nullopt;
    if (drawing != nullptr) return drawn(*drawing, object.path("drawing"), *dtype_of(*word), *shape);
    if (data == nullptr) return std::nullopt;
    return InlineTensor{path, *dtype_of(*word), *shape, findings_}.filled(*data);
  }

  /// Draws the tensors that were read as drawings, unless all of them together are too large.
  void draw_all(std::map<std::string, Tensor>& tensors, const std::string& path) const {
    if (drawn_elements_ > most_token_elements) {
      findings_.add_broken(path, std::to_string(drawn_elements_) + " drawn elements",
                           "at most " + std::to_string(most_token_elements) + " in a token");
      tensors.clear();
      return;
    }
    for (auto& [name, tensor] : tensors)
      if (tensor.drawing) draw_one(tensor, member_path(member_path(path, name), "drawing"));
  }

 private:
  /// The tensor without its bytes.
  std::optional<Tensor> drawn(const Json& json, const std::string& path, Dtype dtype,
                              const std::vector<std::int64_t>& shape) {
    Tensor tensor;
    tensor.drawing = read_drawing(json, path, findings_);
    if (!tensor.drawing) return std::nullopt;
    tensor.dtype = dtype;
    tensor.shape = shape;
    drawn_elements_ += elements_of(shape);
    return tensor;
  }

  void draw_one(Tensor& tensor, const std::string& path) const {
    const Drawing drawing = *tensor.drawing;
    tensor = Tensor(tensor.dtype, tensor.shape);
    try {
      draw(tensor, drawing);
    } catch (const std::invalid_argument& unknown) {
      findings_.add_broken(path, unknown.what(), "a drawing known to this version");
    }
  }

  bool drawings_;
  Findings& findings_;
  std::size_t drawn_elements_ = 0;
};

}  // namespace

std::map<std::string, Tensor> read_tensors(const Json& json, const std::string& path, const TensorSources& sources,
                                           Findings& findings) {
  if (const Json* file = json.member("file"); file != nullptr && !file->is(Json::Kind::object))
    return read_tensor_file(json, path, sources.folder, findings);
  std::map<std::string, Tensor> tensors;
  if (!json.is(Json::Kind::object)) {
    findings.add_broken(path, shown(json), "an object of tensors, or {\"file\": ...}");
    return tensors;
  }
  TensorReader reader(sources.drawings, findings);
  for (std::size_t i = 0; i < json.items.size(); ++i)
    if (auto tensor = reader.read(json.items[i], member_path(path, json.keys[i])))
      tensors.emplace(json.keys[i], *std::move(tensor));
  reader.draw_all(tensors, path);
  return tensors;
}

}  // namespace tally
