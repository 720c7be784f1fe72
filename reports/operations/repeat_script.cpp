#include "reports/operations/repeat_script.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "reports/operations/operations_words.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

using json = nlohmann::ordered_json;  // arguments stand in the schema's order

struct NotRepeatable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A name of the recording's, which becomes code.
std::string word_of_code(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_plain)) throw NotRepeatable("the name " + text);
  return text;
}

std::string quoted(const std::string& text) { return json(text).dump(-1, ' ', true, json::error_handler_t::replace); }

/// A number that Python reads back to the same bits, and as a float.
std::string python_float(double value) {
  if (!std::isfinite(value)) return "float(\"" + shortest(value) + "\")";
  const std::string text = shortest(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::int64_t bytes_of(const std::string& dtype) {
  if (dtype == "float64" || dtype == "int64") return 8;
  if (dtype == "float32" || dtype == "int32") return 4;
  return dtype.ends_with("16") ? 2 : 1;
}

class Script {
 public:
  Script(const JudgedOperation& operation, const json& line) : operation_(operation), line_(line) {}

  std::string value(const json& from) const {
    if (from.is_null()) return "None";
    if (from.is_boolean()) return from.get<bool>() ? "True" : "False";
    if (from.is_string()) return quoted(from.get<std::string>());
    if (from.is_number()) return from.is_number_float() ? python_float(from.get<double>()) : from.dump();
    if (from.is_array()) {
      std::string all;
      for (const json& each : from) all += (all.empty() ? "" : ", ") + value(each);
      return "[" + all + "]";
    }
    if (from.contains("b")) return tensor(from);
    if (from.contains("f")) return "float.fromhex(" + quoted(from.at("f").get<std::string>()) + ")";
    if (from.contains("device")) return "torch.device(" + quoted(from.at("device").get<std::string>()) + ")";
    for (const char* kind : {"dtype", "layout", "memory_format"})
      if (from.contains(kind)) return "torch." + word_of_code(from.at(kind).get<std::string>());
    const std::string other = from.value("other", "");
    if (other.find('j') != std::string::npos && other.find_first_not_of("()+-.0123456789aefijn") == std::string::npos)
      return "complex(" + quoted(other) + ")";
    throw NotRepeatable("an argument that is not recorded");
  }

  /// How the script names the tensor that holds the worst element, with the element's index; in what was returned
  /// before what was written to.
  std::string element(const std::vector<std::string>& positional, std::int64_t block, std::int64_t at) const {
    const json& out = line_.at("out");
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string name = out.size() == 1 ? "result" : "result[" + std::to_string(i) + "]";
      if (auto found = within(out[i], name, block, at)) return *found;
    }
    if (line_.contains("wrote"))
      for (const auto& [key, written] : line_.at("wrote").items()) {
        const bool apart = std::find(positional.begin(), positional.end(), key) != positional.end();
        if (auto found = within(written, apart ? key : "given[" + quoted(key) + "]", block, at)) return *found;
      }
    throw NotRepeatable("an element of no result");
  }

 private:
  std::string tensor(const json& from) const {
    const std::string dtype = word_of_code(from.at("d").get<std::string>());
    const std::uint64_t at = operation_.blocks.at(from.at("b").get<std::int64_t>()) +
                             from.at("o").get<std::uint64_t>() * static_cast<std::uint64_t>(bytes_of(dtype));
    return "read(torch." + dtype + ", " + std::to_string(at) + ", " + value(from.at("s")) + ", " + value(from.at("r")) +
           ")";
  }

  std::optional<std::string> within(const json& from, const std::string& name, std::int64_t block,
                                    std::int64_t at) const {
    if (from.is_array()) {
      for (std::size_t i = 0; i < from.size(); ++i)
        if (auto found = within(from[i], name + "[" + std::to_string(i) + "]", block, at)) return found;
      return std::nullopt;
    }
    if (!from.is_object() || from.value("b", std::int64_t{-1}) != block) return std::nullopt;
    const auto sizes = from.at("s").get<std::vector<std::int64_t>>(),
               strides = from.at("r").get<std::vector<std::int64_t>>();
    std::vector<std::size_t> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
    std::vector<std::int64_t> index(sizes.size());
    std::int64_t rest = at - from.at("o").get<std::int64_t>();
    for (const std::size_t i : order) {
      if (strides[i] <= 0 || sizes[i] <= 1) continue;
      index[i] = std::min(rest / strides[i], sizes[i] - 1);
      rest -= index[i] * strides[i];
    }
    if (rest != 0) return std::nullopt;
    std::string text;
    for (const std::int64_t each : index) text += (text.empty() ? "" : ", ") + std::to_string(each);
    return name + "[" + (text.empty() ? "()" : text) + "]";
  }

  const JudgedOperation& operation_;
  const json& line_;
};

const JudgedResult* result_shown(const JudgedCall& judged) {
  const JudgedResult* shown = nullptr;
  for (const JudgedResult& result : judged.results)
    if (!result.elements_worst.empty() && (shown == nullptr || (result.fails() && !shown->fails()))) shown = &result;
  return shown;
}

constexpr const char* reader = R"(
def read(dtype, offset, sizes, strides):
    count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    if 0 in sizes:
        return torch.empty(sizes, dtype=dtype)
    return torch.frombuffer(bits, dtype=dtype, count=count, offset=offset).as_strided(sizes, strides)DEVICE


)";

std::string reader_on(const std::string& device) {
  std::string text = reader;
  const std::string_view mark = "DEVICE";
  return text.replace(text.find(mark), mark.size(), device);
}

std::string written(const JudgedOperation& operation, const RecordingHeader& header, const std::string& bits,
                    const JudgedResult& result) {
  const json line = json::parse(operation.line);
  const Script script(operation, line);
  const JudgedElement& worst = result.elements_worst.front();
  const json& arguments = line.at("args");
  // A keyword `self` is not everywhere taken: it and those before it stand by themselves.
  std::vector<std::string> positional;
  if (arguments.contains("self"))
    for (const auto& [name, argument] : arguments.items()) {
      positional.push_back(word_of_code(name));
      if (name == "self") break;
    }
  const bool on_cuda = std::find(header.devices.begin(), header.devices.end(), "cuda") != header.devices.end();
  std::string text = "# Tally: repeats " + one_line(place_text(operation.place)) + ", and shows one element of " +
                     one_line(result.name) + ".\nimport mmap\nimport os\nimport torch\n\n";
  if (header.threads > 0) text += "torch.set_num_threads(" + std::to_string(header.threads) + ")\n";
  text += "with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), " + quoted(bits) +
          "), \"rb\") as file:\n    bits = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)\n\n" +
          reader_on(on_cuda ? ".to(\"cuda\")" : "");
  std::string call = "result = torch.ops." + word_of_code(operation.place.operation) + "(";
  for (const std::string& name : positional) {
    text += name + " = " + script.value(arguments.at(name)) + "\n";
    call += name + ", ";
  }
  text += "given = {\n";
  for (const auto& [name, argument] : arguments.items())
    if (std::find(positional.begin(), positional.end(), name) == positional.end())
      text += "    " + quoted(name) + ": " + script.value(argument) + ",\n";
  text += "}\n" + call + "**given)\nfound = " + script.element(positional, result.block, result.at) +
          ".item()\nrecorded, expected, allowed = " + python_float(worst.found) + ", " + python_float(worst.expected) +
          ", " + python_float(worst.allowed) +
          "\nprint(f\"found {found:.9g}, recorded {recorded:.9g}, expected {expected:.9g} \u00B1 {allowed:.3g}\")\n";
  if (result.imprecise)
    text += "print(\"inside of its bound: the errors of all elements together are " + significant(result.spread) +
            " times what roundings leave\")\n";
  else if (result.fails())
    text +=
        "print(\"right here: what was recorded is another kernel's, or was changed in memory\"\n"
        "      if found == expected or abs(found - expected) <= allowed else \"wrong again\")\n";
  return text;
}

}  // namespace

std::string repeat_name(const OperationPlace& place) {
  return "repeat_operation_" + std::to_string(place.number) + ".py";
}

std::string repeat_script(const JudgedOperation& operation, const RecordingHeader& header, const std::string& bits) {
  const JudgedResult* result = result_shown(operation.judged);
  if (result == nullptr || result->block < 0) return "";
  try {
    return written(operation, header, bits, *result);
  } catch (const NotRepeatable&) {
    return "";
  } catch (const nlohmann::json::exception&) {
    return "";
  } catch (const std::out_of_range&) {
    return "";
  }
}

}  // namespace tally
