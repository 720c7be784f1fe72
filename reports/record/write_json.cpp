#include <nlohmann/json.hpp>

#include "reports/record/fields.hpp"
#include "reports/record/json_text.hpp"

namespace tally {
namespace {

using nlohmann::json;

template <Recorded T>
json value_of(const T& record);

json value_of(double value) { return json_of_number(value); }
json value_of(Status status) { return std::string(word_of(status)); }
json value_of(FailureClass failure) { return std::string(word_of(failure)); }

template <class T>
requires std::integral<T> || std::same_as<T, std::string> json value_of(const T& value) { return value; }

template <class T>
json value_of(const std::vector<T>& list) {
  json out = json::array();
  for (const T& element : list) out.push_back(value_of(element));
  return out;
}

class Writer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = value_of(value);
  }
  json take() { return std::move(object_); }

 private:
  json object_ = json::object();
};

template <Recorded T>
json value_of(const T& record) {
  Writer writer;
  fields(writer, record);
  return writer.take();
}

}  // namespace

std::string to_json(const Results& results) { return canonical_text(value_of(results)); }

}  // namespace tally
