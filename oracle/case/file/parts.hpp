// The parts of a case file, for those who read, check or write it: options and sections by contract, tensors, windows,
// execution, version, and what tokens and hashes are made of.
// Defined in hexadecimal.cpp, option.cpp, read_parts.cpp, read_tensor.cpp, token.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// One option of a contract: read, checked, written.

/// The value as the option's type; nullopt with a finding when it is of another type. The words of a text option that
/// are numbers stand in JSON as numbers, the others as strings.
std::optional<OptionValue> read_option(const Option& option, const Json& json, const std::string& path,
                                       Findings& findings);

/// Type, range and words of a value. A wrong type, or an integer out of range, is broken: sizes hang on it.
void check_option(const Option& option, const OptionValue& value, const std::string& path, Findings& findings);

Json write_option(const OptionValue& value);

/// Whether a text can be a parameter's full name, "fc1.weight"; that the model has it is asked of the whole case.
bool names_parameter(const std::string& text);

/// "a number > 0 and < 1".
std::string allowed(const Option& option);

// Layers, losses and recipe sections read, checked and written by their contracts.

/// Reads `kind` and its options from an object, defaults filled in. Does not call finish(), so that the caller may
/// read more keys (a layer's name). The kind is empty when it is unknown: then nothing can be said about the keys.
/// The option `given_elsewhere` may be absent, though it has no default.
Choice read_choice(ObjectReader& object, std::string_view section, std::string_view given_elsewhere = {});

/// Kind, options, their types, ranges and words.
void check_choice(const Choice& choice, std::string_view section, const std::string& path, Findings& findings);

/// Options that are younger than the first version are left out where they are at their defaults, so that a case
/// written before they existed keeps its text.
Json write_choice(const Choice& choice, std::string_view section);

/// The version of a case file that has every option which is not at its default.
std::int64_t version_of(const Choice& choice, std::string_view section);

// The sections of a case that are lists of like things, once for reader, writer, validator and schema.

struct RecipeSection {
  std::string_view name;  // also the section of its contracts
  Choice Recipe::*choice;
};
inline constexpr std::array<RecipeSection, 5> recipe_sections{{{"optimizer", &Recipe::optimizer},
                                                               {"learning_rate", &Recipe::learning_rate},
                                                               {"weight_decay", &Recipe::weight_decay},
                                                               {"clip", &Recipe::clip},
                                                               {"loss_scale", &Recipe::loss_scale}}};

struct PrecisionKey {
  std::string_view name;
  Dtype Precision::*dtype;
  bool FormatUses::*use;  // the formats that it may hold
};
inline constexpr std::array<PrecisionKey, 4> precision_keys{
    {{"storage", &Precision::storage, &FormatUses::storage},
     {"compute", &Precision::compute, &FormatUses::compute},
     {"accumulate", &Precision::accumulate, &FormatUses::accumulate},
     {"master", &Precision::master, &FormatUses::master}}};

/// The words that a key of `precision` may hold.
inline std::vector<std::string> words_of(const PrecisionKey& key) { return names_of(formats_for(key.use)); }

inline constexpr std::array<Normalisation, 5> normalisations{Normalisation::window_items, Normalisation::mean_of_means,
                                                             Normalisation::mean_of_means_configured,
                                                             Normalisation::sum, Normalisation::rank_means};

// One element of an inline tensor, from text to bits and back, exactly.

/// The bits of a JSON number, or of a string holding a C99 hexadecimal float; nullopt where the dtype does not hold the
/// value exactly.
std::optional<std::uint64_t> exact_bits(Dtype dtype, const Json& element);

/// Element i in its canonical form: a hexadecimal float as a string, integers as numbers.
Json canonical_element(const Tensor& tensor, std::size_t i);
/// The same as text of JSON.
void append_canonical(std::string& text, const Tensor& tensor, std::size_t i);

/// The value of a C99 hexadecimal float such as "-0x1.8p-3"; nullopt for other text and for values that no binary64
/// holds exactly.
std::optional<double> hexadecimal_value(std::string_view text);

/// "0x1.8p+0"; "inf", "-inf" or "nan" where the value is not finite.
std::string hexadecimal(double value);

// The tensors of a case: inline, drawn, or in a safetensors file beside the case.

/// Where tensors may come from besides their inline data.
struct TensorSources {
  std::filesystem::path folder;  // of a tensor file; empty: a tensor file is a finding
  bool drawings = false;         // tokens alone hold drawings
};

std::map<std::string, Tensor> read_tensors(const Json& json, const std::string& path, const TensorSources& sources,
                                           Findings& findings);

// The windows of a case: sizes of micro-batches, of several ranks each rank's in a list of its own.

/// Fills `windows` and, where a window is a list of lists, `dealt`. A null pointer reads as nothing.
void read_windows(const Json* json, Case& c, Findings& findings);

// A case's "execution": how a subject is to run it.

/// The default where `json` is a null pointer. What is of another form becomes a finding.
Execution read_execution(const Json* json, Findings& findings);

// The version of a case file: 1, 2 where the case uses what came with layers that read each other and with tokens, or 3
// where ranks train together.

inline constexpr std::int64_t newest_version = 3;

/// The least version that holds this case, which is the one that it is written in.
std::int64_t version_of(const Case& c);

/// What of it the first version does not hold: "a layer names its inputs". Empty where that version does.
std::string what_needs_version(const Case& c);

// Base32 (RFC 4648, section 6) in lower case without padding.

std::string to_base32(std::string_view bytes);
/// nullopt for other letters, an impossible length or set bits beyond the last byte.
std::optional<std::string> from_base32(std::string_view text);

// zlib streams (RFC 1950) of bounded size.

std::string compress(std::string_view bytes);
/// nullopt for a damaged or unfinished stream, bytes after its end, or more than `most` bytes inside.
std::optional<std::string> decompress(std::string_view stream, std::size_t most);

// SHA-256 of a text that comes in parts.

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::string_view part);
  /// The digest of all parts so far, as 64 lower-case hex digits; to be asked once.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A case as JSON in its two forms: a file, and the text inside a token, where drawn tensors travel as their drawing.

/// Reads and validates. Throws InvalidCase.
Case unpack_case(std::string_view text, const TensorSources& sources);

Json json_of(const Case& c, bool drawings);

}  // namespace tally
