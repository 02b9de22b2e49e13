#include "core/bare_runner/commands.h"

#include <cstring>
#include <string>
#include <vector>

#include "core/bare_runner/protocol.h"
#include "core/kernel_abi/kernel_abi.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

int32_t Nothing(void** /*arguments*/) { return 0; }

template <typename T>
std::string Bytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() {
    blocks_.table = table_;
    blocks_.room = 8;
    bare_add_block(&blocks_, 0x3000, 64);
    bare_add_block(&blocks_, 0x1000, 256);
    bare_add_block(&blocks_, 0x2000, 0);
  }

  // The rule that is broken; empty: none.
  std::string Read(const std::string& list, uint32_t count) {
    list_.assign(list.size() / 8 + 1, 0);
    std::memcpy(list_.data(), list.data(), list.size());
    constexpr size_t kGuard = 64;
    const size_t room = BARE_COMMAND_ROOM(list.size()) / 8;
    room_.assign(room + kGuard, ~uint64_t{0});
    const bare_held held = {&blocks_, codes_, 1, &context_};
    const char* error =
        bare_read_commands(reinterpret_cast<const uint8_t*>(list_.data()),
                           static_cast<uint32_t>(list.size()), count, &held, room_.data());
    for (size_t i = room; i < room_.size(); ++i) {
      EXPECT_EQ(room_[i], ~uint64_t{0}) << "written " << i - room << " words beside the room";
    }
    return error == nullptr ? "" : error;
  }
  const bare_command& command(int i) {
    return reinterpret_cast<const bare_command*>(room_.data())[i];
  }
  static std::string Launch(uint32_t code, uint32_t kernel, uint32_t tensors) {
    return Bytes(slipway_bare_launch{SLIPWAY_BARE_LAUNCH, code, kernel, tensors});
  }
  static std::string Tensor(uint64_t address, std::vector<slipway_dimension> dimensions,
                            uint8_t bits = 32) {
    std::string bytes = Bytes(slipway_bare_tensor{address, SLIPWAY_TYPE_FLOAT, bits, 1,
                                                  static_cast<uint32_t>(dimensions.size())});
    for (const slipway_dimension& dimension : dimensions) bytes += Bytes(dimension);
    return bytes;
  }

  bare_block table_[8] = {};
  bare_blocks blocks_ = {};
  const slipway_kernel_entry kernels_[3] = {{Nothing, 1, 0}, {Nothing, 0, 0}, {Nothing, 4, 0}};
  const bare_code codes_[1] = {{kernels_, 3}};
  slipway_context* context_ = nullptr;
  std::vector<uint64_t> list_;
  std::vector<uint64_t> room_;
};

TEST_F(CommandsTest, AreReadAsTheyAre) {
  const std::string list = Launch(0, 0, 1) + Tensor(0x1040, {{0, 3, 1, 0}, {0, 16, 3, 0}}) +
                           Bytes(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, 0x1000, 0x3000, 64}) +
                           Launch(0, 1, 0);
  ASSERT_EQ(Read(list, 3), "");
  EXPECT_EQ(command(0).function, &Nothing);
  EXPECT_EQ(command(0).arguments[0], static_cast<void*>(&context_));
  const auto* buffer = static_cast<const slipway_buffer*>(command(0).arguments[1]);
  EXPECT_EQ(buffer->host, reinterpret_cast<uint8_t*>(0x1040));
  EXPECT_EQ(buffer->dimensions, 2);
  EXPECT_EQ(buffer->dim[1].extent, 16);
  EXPECT_EQ(command(1).function, nullptr);
  EXPECT_EQ(command(1).to, 0x3000u);
  EXPECT_EQ(command(2).function, &Nothing);
}

TEST_F(CommandsTest, TensorsLieInBlocks) {
  const auto read = [&](const std::string& tensor) { return Read(Launch(0, 0, 1) + tensor, 1); };
  EXPECT_EQ(read(Tensor(0x1000, {{0, 64, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x1000, {{0, 65, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x1004, {{0, 64, 1, 0}})), "");
  EXPECT_EQ(read(Tensor(0x10fc, {})), "");
  EXPECT_NE(read(Tensor(0x1100, {})), "");
  EXPECT_NE(read(Tensor(0xff0, {})), "");
  // No elements lie anywhere in a block, its end included.
  EXPECT_EQ(read(Tensor(0x2000, {{0, 0, 1, 0}, {0, 1000, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x2001, {{0, 0, 1, 0}})), "");
  // 2^31 each: their product has more than 64 bits.
  constexpr int32_t kMost = INT32_MAX;
  EXPECT_NE(read(Tensor(0x1000, {{0, kMost, 1, 0}, {0, kMost, kMost, 0}, {0, kMost, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x1000, {{0, -4, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x1000, {{0, 4, 2, 0}})), "");
  EXPECT_NE(read(Tensor(0x1000, {{1, 4, 1, 0}})), "");
  EXPECT_NE(read(Tensor(0x1000, {{0, 4, 1, 0}}, /*bits=*/7)), "");
}

TEST_F(CommandsTest, CopiesLieInBlocks) {
  const auto copy = [&](uint64_t from, uint64_t to, uint64_t bytes) {
    return Read(Bytes(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, from, to, bytes}), 1);
  };
  EXPECT_EQ(copy(0x1000, 0x3000, 64), "");
  EXPECT_NE(copy(0x1000, 0x3000, 65), "");
  EXPECT_NE(copy(0x3000, 0x1000, 65), "");
  EXPECT_NE(copy(0x1000, 0x1001, UINT64_MAX), "");
}

TEST_F(CommandsTest, NothingIsCutOffOrLeftOver) {
  EXPECT_NE(Read(Launch(0, 3, 0), 1), "");
  EXPECT_NE(Read(Launch(1, 1, 0), 1), "");
  EXPECT_NE(Read(Launch(0, 0, 0), 1), "");
  EXPECT_NE(Read(Launch(0, 1, 1) + Tensor(0x1000, {}), 1), "");
  const std::string list = Launch(0, 0, 1) + Tensor(0x1000, {{0, 4, 1, 0}});
  for (size_t size = 0; size < list.size(); size += 8) {
    EXPECT_NE(Read(list.substr(0, size), 1), "") << size;
  }
  EXPECT_EQ(Read(list, 1), "");
  EXPECT_EQ(Read("", 0), "");
  EXPECT_NE(Read(list, 0), "");
  EXPECT_NE(Read(list, 2), "");
  EXPECT_NE(Read(list + list, 1), "");
  EXPECT_NE(Read(list, UINT32_MAX), "");
  EXPECT_NE(Read(std::string(16, '\x7f'), 1), "");
}

// Bytes of a list are a command's or a tensor's, and its room is for either.
TEST_F(CommandsTest, TensorsTakeNoRoomOfCommandsThatAreToCome) {
  std::string list = Launch(0, 2, 4);
  for (int i = 0; i < 4; ++i) list += Tensor(0x1000, {});
  EXPECT_EQ(Read(list, 1), "");
  for (uint32_t count = 2; count <= 5; ++count) {
    EXPECT_EQ(Read(list, count), "a launch is cut off") << count;
  }
}

TEST_F(CommandsTest, BlocksGoAsTheyCame) {
  const uint64_t generation = blocks_.generation;
  EXPECT_EQ(blocks_.bytes, 320u);
  EXPECT_FALSE(bare_remove_block(&blocks_, 0x1000, 255));
  EXPECT_FALSE(bare_remove_block(&blocks_, 0x1001, 255));
  EXPECT_EQ(blocks_.generation, generation);
  EXPECT_TRUE(bare_remove_block(&blocks_, 0x1000, 256));
  EXPECT_NE(blocks_.generation, generation);
  EXPECT_FALSE(bare_is_in_block(&blocks_, 0x1000, 0));
  EXPECT_TRUE(bare_is_in_block(&blocks_, 0x3000, 64));
  EXPECT_EQ(blocks_.bytes, 64u);
}

}  // namespace
}  // namespace slipway
