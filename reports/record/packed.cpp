#include "reports/record/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "reports/record/fields.hpp"
#include "reports/record/triggers.hpp"

namespace tally {
namespace {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Packer {
 public:
  template <class T>
  void operator()(const char*, const T& value) {
    put(value);
  }
  template <class T>
  void later(const char*, const T& value) {
    put(value);
  }
  template <class T>
  void optional(const char*, const T& value, bool present) {
    put(present);
    if (present) put(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  /// One NaN for all: which one a machine computes is no part of an answer.
  void put(double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <Plain T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <class A, class B>
  void put(const std::pair<A, B>& both) {
    put(both.first), put(both.second);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const T& element : list) put(element);
  }
  template <class Record>
  void put(const Record& record) {
    fields(*this, record);
  }

  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(const char*, T& value) {
    get(value);
  }
  template <class T>
  void later(const char*, T& value) {
    get(value);
  }
  template <class T>
  void optional(const char*, T& value, bool) {
    bool present = false;
    get(present);
    if (present) get(value);
  }
  void nothing_else() const {
    if (!bytes_.empty()) refuse("no more than", 0);
  }

 private:
  [[noreturn]] void refuse(const char* what, std::size_t expected) const {
    throw std::runtime_error("packed results: found " + std::to_string(bytes_.size()) + " bytes, expected " + what +
                             " " + std::to_string(expected));
  }
  std::string_view next(std::size_t count) {
    if (bytes_.size() < count) refuse("at least", count);
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  /// Every element takes a byte or more.
  std::size_t count() {
    std::size_t count = 0;
    get(count);
    if (count > bytes_.size()) refuse("at least", count);
    return count;
  }

  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
  }
  void get(std::string& text) { text = next(count()); }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    get(both.first), get(both.second);
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.resize(count());
    for (T& element : list) get(element);
  }
  template <class Record>
  void get(Record& record) {
    fields(*this, record);
  }

  std::string_view bytes_;
};

}  // namespace

std::string packed(const Results& results) {
  Packer packer;
  fields(packer, results);
  return packer.take();
}

Results unpacked(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Results results;
  fields(unpacker, results);
  unpacker.nothing_else();
  return results;
}

void add_part(Results& whole, Results part) {
  std::ranges::move(part.cases, std::back_inserter(whole.cases));
  std::ranges::move(part.training, std::back_inserter(whole.training));
  for (const LawRecord& law : part.laws)
    for (LawRecord& same : whole.laws)
      if (same.name == law.name) same.control_differs = same.control_differs || law.control_differs;
  merge_triggers(whole.triggers, part.triggers);
  add(whole.certified, part.certified);
  whole.ran_on_host += part.ran_on_host, whole.ran_on_device += part.ran_on_device;
  whole.partial = whole.partial || part.partial;
  if (whole.partial_reason.empty()) whole.partial_reason = part.partial_reason;
}

}  // namespace tally
