#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "case_files.hpp"
#include "oracle/case/file/safetensors.hpp"
#include "oracle/case/io.hpp"

namespace tally::mutation_test {
namespace {

/// Flips, drops, doubles or replaces a few bytes. Only integer operations: the same mutations everywhere.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::string nothing(1, '\0');
  static const std::string pieces[] = {"\"",    "{",     "}",     "[",     "]",    ",",    ":",
                                       "-",     "0",     "9",     "1e400", "null", "true", "\\u00",
                                       nothing, "1e300", "0x1p+", "tly1:", "--",   ".",    "\xff"};
  for (std::size_t n = 1 + random() % 3; n > 0 && !text.empty(); --n) {
    const std::size_t at = random() % text.size();
    const std::size_t from = random() % text.size();
    const std::size_t length = random() % 30;
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        break;
      case 1:
        text.erase(at, 1 + length);
        break;
      case 2:
        text.insert(at, text.substr(from, length));
        break;
      case 3:
        text.insert(at, pieces[random() % std::size(pieces)]);
        break;
      case 4:
        text.replace(at, 1, std::string(1, static_cast<char>(random() % 256)));
        break;
    }
  }
  return text;
}

/// Runs `read` on mutations of a text; anything but success and a std::runtime_error escapes and fails the test.
template <class Read>
void survive(const std::string& text, int mutations, std::uint32_t seed, Read read) {
  std::mt19937 random(seed);
  int refused = 0;
  for (int i = 0; i < mutations; ++i) {
    const std::string input = mutated(text, random);
    try {
      read(input);
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, mutations / 10);
}

TEST(Mutation, CaseFilesAreReadOrRefused) {
  std::uint32_t seed = 1;
  for (const auto& file : tests::json_files(tests::case_folder / "valid")) {
    SCOPED_TRACE(file);
    survive(tests::text_of(file), 400, seed++,
            [](const std::string& text) { read_case(text, tests::case_folder / "valid"); });
  }
}

TEST(Mutation, WhatIsReadIsWrittenAndReadAgain) {
  std::mt19937 random(99);
  const std::string text = tests::text_of(tests::case_folder / "valid/resumed_adam.json");
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      const Case c = read_case(mutated(text, random));
      ++read;
      EXPECT_EQ(read_case(write_case(c)), c);
      EXPECT_EQ(case_of_token(token_of(c)), c);
    } catch (const InvalidCase&) {
      continue;
    }
  }
  EXPECT_GT(read, 0);
}

TEST(Mutation, TokensAreReadOrRefused) {
  const std::string token = token_of(read_case_file(tests::case_folder / "valid/resumed_adam.json"));
  survive(token, 2000, 7, [](const std::string& text) { case_of_token(text); });
}

TEST(Mutation, TensorFilesAreReadOrRefused) {
  const std::string bytes = tests::text_of(tests::case_folder / "valid/tensors_in_a_file.safetensors");
  survive(bytes, 4000, 11, [](const std::string& text) { read_safetensors(text); });
}

TEST(Mutation, RandomBytesAreRefused) {
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_THROW(read_case(bytes), InvalidCase);
    EXPECT_THROW(case_of_token(bytes), InvalidCase);
    EXPECT_THROW(read_safetensors(bytes), std::runtime_error);
  }
}

}  // namespace
}  // namespace tally::mutation_test
