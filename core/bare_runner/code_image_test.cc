#include "core/bare_runner/code_image.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPage = 4096;

struct Machine {
  const char* file;
  uint32_t machine;
};

class CodeImageTest : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(
        elf_, ReadFile(std::string("core/bare_runner/kernels.") + GetParam().file, 1 << 20));
  }

  std::string Read(uint64_t page_bytes = kPage) {
    const char* error = bare_read_image(reinterpret_cast<const uint8_t*>(elf_.data()), elf_.size(),
                                        GetParam().machine, page_bytes, &image_);
    return error == nullptr ? "" : error;
  }

  Elf64_Ehdr& header() { return *reinterpret_cast<Elf64_Ehdr*>(elf_.data()); }
  Elf64_Phdr* segments() { return reinterpret_cast<Elf64_Phdr*>(elf_.data() + header().e_phoff); }
  // The first of its type.
  Elf64_Phdr& SegmentOf(uint32_t type) {
    Elf64_Phdr* segment = segments();
    while (segment->p_type != type) ++segment;
    return *segment;
  }
  Elf64_Dyn& EntryOf(int64_t tag) {
    auto* entry = reinterpret_cast<Elf64_Dyn*>(elf_.data() + SegmentOf(PT_DYNAMIC).p_offset);
    while (entry->d_tag != tag) ++entry;
    return *entry;
  }
  // Its address is that in the file where its segment is.
  Elf64_Rela& FirstRela() {
    return *reinterpret_cast<Elf64_Rela*>(elf_.data() + EntryOf(DT_RELA).d_un.d_val);
  }

  std::string elf_;
  bare_image image_ = {};
};

INSTANTIATE_TEST_SUITE_P(Machines, CodeImageTest,
                         ::testing::Values(Machine{"x86-64.so", EM_X86_64},
                                           Machine{"arm-64.so", EM_AARCH64},
                                           Machine{"riscv-64.so", EM_RISCV}),
                         [](const auto& info) {
                           return info.param.machine == EM_X86_64    ? "X86_64"
                                  : info.param.machine == EM_AARCH64 ? "Arm64"
                                                                     : "Riscv64";
                         });

TEST_P(CodeImageTest, IsLaidOutAsItsFileSays) {
  ASSERT_EQ(Read(), "");
  EXPECT_EQ(image_.bytes % kPage, 0u);
  std::vector<uint8_t> memory(image_.bytes);
  bare_write_image(&image_, reinterpret_cast<const uint8_t*>(elf_.data()), memory.data());
  // The table of kernels begins with its version, and points to kernels within the code, by relative relocations.
  const Elf64_Rela rela = FirstRela();
  uint64_t value = 0;
  std::memcpy(&value, memory.data() + rela.r_offset, sizeof(value));
  EXPECT_EQ(value,
            reinterpret_cast<uint64_t>(memory.data()) + static_cast<uint64_t>(rela.r_addend));
  bool is_in_code = false;
  for (uint32_t i = 0; i < image_.segment_count; ++i) {
    const bare_segment& segment = image_.segments[i];
    EXPECT_FALSE(segment.is_written && segment.is_run);
    is_in_code |= segment.is_run && image_.query >= segment.address &&
                  image_.query < segment.address + segment.bytes;
  }
  EXPECT_TRUE(is_in_code);
  EXPECT_LT(image_.relro_begin, image_.relro_end);
}

TEST_P(CodeImageTest, RefusesWhatIsNoCodeForThisMachine) {
  const std::string whole = elf_;
  for (size_t size = 0; size < whole.size(); size += 7) {
    elf_ = whole.substr(0, size);
    // What stands behind the last segment is nobody's business.
    if (!Read().empty()) continue;
    EXPECT_GT(size, whole.size() / 3);
  }
  elf_ = whole;
  header().e_machine = EM_MIPS;
  EXPECT_EQ(Read(), "the code is for another machine");
  elf_ = whole;
  header().e_type = ET_EXEC;
  EXPECT_EQ(Read(), "the code is no shared object");
  elf_ = whole;
  header().e_phoff = UINT64_MAX - 8;
  EXPECT_THAT(Read(), HasSubstr("table of segments"));
  elf_ = "nothing of the kind";
  EXPECT_EQ(Read(), "the code is no ELF file");
}

TEST_P(CodeImageTest, RefusesSegmentsThatLeaveTheFileOrAreTooMuch) {
  const std::string whole = elf_;
  SegmentOf(PT_LOAD).p_filesz = elf_.size() + 1;
  EXPECT_THAT(Read(), HasSubstr("does not lie in the code's file"));
  elf_ = whole;
  SegmentOf(PT_LOAD).p_memsz = uint64_t{1} << 40;
  EXPECT_THAT(Read(), HasSubstr("larger than 1 GiB"));
  elf_ = whole;
  SegmentOf(PT_LOAD).p_flags = PF_W | PF_X;
  EXPECT_EQ(Read(), "a segment is both written and run");
  elf_ = whole;
  EXPECT_EQ(Read(/*page_bytes=*/1 << 20), "two segments share a page of this machine");
  elf_ = whole;
  SegmentOf(PT_GNU_STACK).p_type = PT_TLS;
  EXPECT_EQ(Read(), "the code has thread-local variables");
}

TEST_P(CodeImageTest, RefusesWhatNeedsAnything) {
  const std::string whole = elf_;
  EntryOf(DT_RELACOUNT).d_tag = DT_NEEDED;
  EXPECT_EQ(Read(), "the code needs a library");
  elf_ = whole;
  EntryOf(DT_RELACOUNT).d_tag = DT_INIT_ARRAYSZ;
  EXPECT_EQ(Read(), "the code has initializers");
  elf_ = whole;
  FirstRela().r_info = ELF64_R_INFO(1, 1);
  EXPECT_EQ(Read(), "the code needs symbols that nobody has");
  elf_ = whole;
  FirstRela().r_offset = 0;  // Which is only read.
  EXPECT_EQ(Read(), "a relocation leaves the code");
  elf_ = whole;
  FirstRela().r_addend = -1;
  EXPECT_EQ(Read(), "a relocation leaves the code");
  elf_ = whole;
  EntryOf(DT_RELASZ).d_un.d_val = 1 << 30;
  EXPECT_EQ(Read(), "a table does not lie in the code's file");
  elf_ = whole;
  EntryOf(DT_STRTAB).d_un.d_val += 1;
  EXPECT_THAT(Read(), HasSubstr("does not export"));
}

// Files of 32 bits, whose relocations have no addends.
class CodeImage32Test : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(elf_, ReadFile("core/bare_runner/kernels.arm-32.so", 1 << 20));
  }
  std::string Read() {
    const char* error = bare_read_image(reinterpret_cast<const uint8_t*>(elf_.data()), elf_.size(),
                                        EM_ARM, kPage, &image_);
    return error == nullptr ? "" : error;
  }
  Elf32_Ehdr& header() { return *reinterpret_cast<Elf32_Ehdr*>(elf_.data()); }
  Elf32_Phdr& SegmentOf(uint32_t type) {
    auto* segment = reinterpret_cast<Elf32_Phdr*>(elf_.data() + header().e_phoff);
    while (segment->p_type != type) ++segment;
    return *segment;
  }
  Elf32_Dyn& EntryOf(int32_t tag) {
    auto* entry = reinterpret_cast<Elf32_Dyn*>(elf_.data() + SegmentOf(PT_DYNAMIC).p_offset);
    while (entry->d_tag != tag) ++entry;
    return *entry;
  }
  Elf32_Rel& FirstRel() {
    return *reinterpret_cast<Elf32_Rel*>(elf_.data() + EntryOf(DT_REL).d_un.d_val);
  }

  std::string elf_;
  bare_image image_ = {};
};

TEST_F(CodeImage32Test, IsLaidOutAsItsFileSays) {
  ASSERT_EQ(Read(), "");
  std::vector<uint8_t> memory(image_.bytes);
  bare_write_image(&image_, reinterpret_cast<const uint8_t*>(elf_.data()), memory.data());
  const Elf32_Rel rel = FirstRel();
  uint32_t value = 0;
  std::memcpy(&value, memory.data() + rel.r_offset, sizeof(value));
  // What the table of kernels points to lies within the image, or would if that had an address of 32 bits.
  EXPECT_LT(value - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(memory.data())),
            image_.bytes);
  EXPECT_LT(image_.query, image_.bytes);
}

TEST_F(CodeImage32Test, RefusesWhatIsNoCodeForThisMachine) {
  const std::string whole = elf_;
  for (size_t size = 0; size < whole.size(); size += 7) {
    elf_ = whole.substr(0, size);
    if (!Read().empty()) continue;
    EXPECT_GT(size, whole.size() / 3);
  }
  elf_ = whole;
  header().e_ident[EI_CLASS] = ELFCLASS64;
  EXPECT_EQ(Read(), "the code is for another machine");
  elf_ = whole;
  header().e_machine = EM_X86_64;
  EXPECT_EQ(Read(), "the code is for another machine");
  elf_ = whole;
  header().e_phoff = UINT32_MAX - 8;
  EXPECT_THAT(Read(), HasSubstr("table of segments"));
  elf_ = whole;
  SegmentOf(PT_LOAD).p_filesz = UINT32_MAX;
  EXPECT_THAT(Read(), HasSubstr("does not lie in the code's file"));
}

TEST_F(CodeImage32Test, RefusesWhatNeedsAnything) {
  const std::string whole = elf_;
  EntryOf(DT_RELCOUNT).d_tag = DT_NEEDED;
  EXPECT_EQ(Read(), "the code needs a library");
  elf_ = whole;
  EntryOf(DT_REL).d_tag = DT_RELA;
  EXPECT_EQ(Read(), "the code has relocations of a kind that is not known here");
  elf_ = whole;
  FirstRel().r_info = ELF32_R_INFO(1, R_ARM_RELATIVE);
  EXPECT_EQ(Read(), "the code needs symbols that nobody has");
  elf_ = whole;
  FirstRel().r_offset = 0;
  EXPECT_EQ(Read(), "a relocation leaves the code");
  elf_ = whole;
  FirstRel().r_offset = UINT32_MAX;
  EXPECT_EQ(Read(), "a relocation leaves the code");
  elf_ = whole;
  EntryOf(DT_STRTAB).d_un.d_val += 1;
  EXPECT_THAT(Read(), HasSubstr("does not export"));
}

}  // namespace
}  // namespace slipway
