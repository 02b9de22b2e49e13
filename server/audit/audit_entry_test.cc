#include "server/audit/audit_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/utf8.h"

namespace slipway::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

AuditEntry SomeEntry() {
  return {.time = absl::FromUnixMicros(1'767'225'600'123'456),
          .owner = "ada",
          .identity = "0123456789abcdef",
          .address = "ipv4:192.0.2.7:40001",
          .call = "RunService.CreateRun",
          .subject = "01JAAAAAAAAAAAAAAAAAAAA001",
          .outcome = "PERMISSION_DENIED",
          .message = "'ada' is not admin",
          .request_id = "r-1"};
}

absl::optional<AuditEntry> Again(const AuditEntry& entry) {
  const std::string line = FormatAuditLine(entry);
  EXPECT_THAT(line, EndsWith("}\n"));
  return ParseAuditLine(absl::StripSuffix(line, "\n"));
}

TEST(AuditEntry, IsALineOfJson) {
  EXPECT_EQ(FormatAuditLine(SomeEntry()),
            R"({"time": "2026-01-01T00:00:00.123456Z", "owner": "ada", )"
            R"("identity": "0123456789abcdef", "address": "ipv4:192.0.2.7:40001", )"
            R"("call": "RunService.CreateRun", "subject": "01JAAAAAAAAAAAAAAAAAAAA001", )"
            R"("outcome": "PERMISSION_DENIED", "message": "'ada' is not admin", )"
            R"("request_id": "r-1"})"
            "\n");
  EXPECT_THAT(FormatAuditLine({.call = "join"}), Not(HasSubstr("owner")));
}

TEST(AuditEntry, IsReadAsItWasWritten) {
  const AuditEntry entry = SomeEntry();
  const absl::optional<AuditEntry> again = Again(entry);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->time, entry.time);
  for (const auto text : {&AuditEntry::owner, &AuditEntry::identity, &AuditEntry::address,
                          &AuditEntry::call, &AuditEntry::subject, &AuditEntry::outcome,
                          &AuditEntry::message, &AuditEntry::request_id}) {
    EXPECT_EQ((*again).*text, entry.*text);
  }
}

TEST(AuditEntry, NoTextEndsTheLineOrReachesATerminal) {
  std::string hostile;
  for (int c = 0; c < 0x100; ++c) hostile.push_back(static_cast<char>(c));
  for (const std::string& text :
       {std::string("x\", \"owner\": \"root"), std::string("a\nb\r\n{\"time\": \"\"}\n  c"),
        std::string("\x1b[2J\x07\x7f"),
        std::string("\xc2\x9b"
                    "31m\xc2\x80"),
        hostile, std::string("\xff\xfe\xc2"), std::string(1, '\0'),
        std::string("back\\slash\\u0041")}) {
    AuditEntry entry = SomeEntry();
    entry.subject = text;
    const std::string line = FormatAuditLine(entry);
    const auto controls = std::count_if(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    EXPECT_EQ(controls, 1) << line;
    EXPECT_TRUE(IsUtf8(line));
    EXPECT_THAT(line, Not(HasSubstr("\xc2\x9b")));
    const absl::optional<AuditEntry> again = Again(entry);
    ASSERT_TRUE(again.has_value()) << line;
    EXPECT_EQ(again->owner, "ada");
    if (IsUtf8(text)) EXPECT_EQ(again->subject, text);
  }
}

TEST(AuditEntry, LongTextsAreCutVisiblyAndBetweenCharacters) {
  AuditEntry entry = SomeEntry();
  entry.message = std::string(kMaxAuditTextBytes, 'x');
  EXPECT_EQ(Again(entry)->message, entry.message);
  entry.message += "y";
  EXPECT_EQ(Again(entry)->message, std::string(kMaxAuditTextBytes - 3, 'x') + "...");
  for (const std::string& character : {"\u00e9", "\u20ac", "\U0001f600"}) {
    for (int shift = 0; shift < 4; ++shift) {
      entry.message = std::string(static_cast<size_t>(shift), 'x');
      while (entry.message.size() < 1000) entry.message += character;
      const std::string message = Again(entry)->message;
      EXPECT_LE(message.size(), kMaxAuditTextBytes);
      EXPECT_GE(message.size(), kMaxAuditTextBytes - 3);
      EXPECT_THAT(message, EndsWith("..."));
      EXPECT_THAT(entry.message, StartsWith(message.substr(0, message.size() - 3)));
    }
  }
  // Whatever is in them.
  const std::string worst(100'000, '\x01');
  for (const auto text : {&AuditEntry::owner, &AuditEntry::identity, &AuditEntry::address,
                          &AuditEntry::call, &AuditEntry::subject, &AuditEntry::outcome,
                          &AuditEntry::message, &AuditEntry::request_id}) {
    entry.*text = worst;
  }
  EXPECT_LE(FormatAuditLine(entry).size(), kMaxAuditLineBytes);
  EXPECT_TRUE(Again(entry).has_value());
}

TEST(AuditEntry, DamagedLinesAreNone) {
  const std::string line(absl::StripSuffix(FormatAuditLine(SomeEntry()), "\n"));
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(ParseAuditLine(line.substr(0, size)).has_value()) << size;
  }
  const std::string time = R"("time": "2026-01-01T00:00:00Z")";
  EXPECT_TRUE(ParseAuditLine(absl::StrCat("{", time, "}")).has_value());
  EXPECT_TRUE(ParseAuditLine(absl::StrCat("{", time, R"(, "later": "x"})")).has_value());
  for (const std::string& damaged :
       {absl::StrCat(line, "x"), absl::StrCat(line, line), std::string("{}"), std::string("[]"),
        std::string(R"({"owner": "ada"})"), std::string(R"({"time": "yesterday"})"),
        absl::StrCat("{", time, ",}"), absl::StrCat("{", time, R"(, "owner": 1})"),
        absl::StrCat("{", time, R"(, "owner": "\ud83d"})"),
        absl::StrCat("{", time, R"(, "owner": "\u12g4"})"),
        absl::StrCat("{", time, R"(, "owner": "\x"})"),
        absl::StrCat("{", time, ", \"owner\": \"\xff\"}"),
        absl::StrCat("{", time, ", \"owner\": \"\n\"}"),
        absl::StrCat("{", time, std::string(kMaxAuditLineBytes, ' '), "}")}) {
    EXPECT_FALSE(ParseAuditLine(damaged).has_value()) << damaged;
  }
}

}  // namespace
}  // namespace slipway::server
