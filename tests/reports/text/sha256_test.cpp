#include <gtest/gtest.h>

#include "reports/text/stored_text.hpp"

namespace tally {
namespace {

/// The examples of FIPS 180-4, and one of more than a block.
TEST(Sha256Digest, IsThatOfTheStandardsExamples) {
  EXPECT_EQ(hex(sha256_digest("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256_digest("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256_digest(std::string(1000, 'a'))),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST(Sha256Digest, InBase64IsWhatScriptPoliciesName) {
  EXPECT_EQ(base64(sha256_digest("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace tally
