// SPDX-License-Identifier: BSL-1.0
// Deltas of examples/live_checkpoint. Built twice: with zstd, and without it.
#include "restore.hpp"

#include <byre/interop/npy_header.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace examples::live_checkpoint {
namespace {

using byre::test::Random;
using Values = std::vector<std::uint32_t>;

Bytes bytes_of(const Values& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Bytes numbers(std::initializer_list<std::uint64_t> all) {
  Bytes bytes;
  for (const std::uint64_t each : all) {
    put_number(each, bytes);
  }
  return bytes;
}

/// Adds each tile, in blocks of at least `block_nbytes` bytes. Returns the blocks.
Bytes encode(BlockEncoder& encoder, const Bytes& before, const Bytes& now, std::size_t tile_nbytes,
             int level, std::size_t block_nbytes = 1) {
  Bytes blocks;
  for (std::size_t at = 0; at < now.size(); at += tile_nbytes) {
    const std::size_t nbytes = std::min(tile_nbytes, now.size() - at);
    encoder.add(at / tile_nbytes, std::span(before).subspan(at, nbytes),
                std::span(now).subspan(at, nbytes));
    if (encoder.nbytes() >= block_nbytes || (at + nbytes == now.size() && encoder.nbytes() != 0)) {
      const Bytes block = encoder.take_block(level);
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
  }
  return blocks;
}

void apply(const Bytes& blocks, std::span<std::byte> table, std::size_t tile_nbytes) {
  BlockDecoder decoder(table, tile_nbytes);
  for (Cursor cursor(blocks); !cursor.is_at_end();) {
    decoder.apply(cursor);
  }
}

/// The error if the bytes are applied as a block to tiles of 5, 5 and 2 elements.
std::string error_of(std::span<const std::byte> block, std::size_t elements = 12) {
  Bytes table(elements * element_nbytes);
  Cursor cursor(block);
  try {
    BlockDecoder(table, 5 * element_nbytes).apply(cursor);
  } catch (const Malformed& malformed) {
    return malformed.what();
  }
  return "";
}

/// A block of uncompressed streams whose elements all change by `bits`.
Bytes block_of(const Bytes& places, std::size_t elements) {
  Bytes block;
  put_stream(places, 0, block);
  for (std::size_t byte = 0; byte < element_nbytes; ++byte) {
    put_stream(Bytes(elements, std::byte{0xff}), 0, block);
  }
  return block;
}

/// The bits that an element of a model may get: those of another number, of another zero or NaN.
std::uint32_t changed(Random& random, std::uint32_t bits) {
  switch (random.below(4)) {
    case 0:
      return bits ^ 0x8000'0000;
    case 1:
      return 0x7f80'0000 | random.number<std::uint32_t>(1, 0x7f'ffff);
    case 2:
      return bits + random.number<std::uint32_t>(0, 3);
    default:
      return static_cast<std::uint32_t>(random.engine()());
  }
}

TEST(Streams, numbers_have_7_bits_in_a_byte_and_words_8_bytes) {
  Bytes bytes = numbers({0, 127, 128, 300, (std::uint64_t{1} << 63) - 1});
  EXPECT_EQ(bytes.size(), 1 + 1 + 2 + 2 + 9);
  EXPECT_EQ(bytes[4], std::byte{0xac});  // 300 is 0b10'0101100
  EXPECT_EQ(bytes[5], std::byte{0x02});
  put_word(0x1122'3344'5566'7788, bytes);
  EXPECT_EQ(bytes[15], std::byte{0x88});
  EXPECT_EQ(bytes.back(), std::byte{0x11});
  Cursor cursor(bytes);
  for (const std::uint64_t expected : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128},
                                       std::uint64_t{300}, (std::uint64_t{1} << 63) - 1}) {
    EXPECT_EQ(cursor.number(), expected);
  }
  EXPECT_EQ(cursor.word(), 0x1122'3344'5566'7788U);
  EXPECT_TRUE(cursor.is_at_end());
}

TEST(Streams, zstd_is_used_if_it_makes_a_stream_smaller) {
  Random random(1);
  Bytes noise(1000);
  std::ranges::generate(noise, [&] { return static_cast<std::byte>(random.below(256)); });
  for (const auto& [bytes, level, is_smaller] :
       {std::tuple(Bytes(1000), 1, has_zstd), std::tuple(Bytes(1000), 0, false),
        std::tuple(noise, 1, false), std::tuple(Bytes(), 1, false)}) {
    Bytes stream;
    put_stream(bytes, level, stream);
    EXPECT_EQ(stream.size() < 100, is_smaller || bytes.empty());
    if (!is_smaller) {
      EXPECT_EQ(stream.size(), 2 * word_nbytes + bytes.size());
    }
    Cursor cursor(stream);
    EXPECT_EQ(take_stream(cursor, bytes.size()), bytes);
    EXPECT_TRUE(cursor.is_at_end());
  }
}

TEST(ElementDelta, a_block_has_the_documented_bytes) {
  Values before{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  Values now = before;
  now[6] ^= 0x4433'2211;  // element 1 of tile 1
  now[9] ^= 0x0800'0000;
  for (std::size_t index = 10; index < 14; ++index) {
    now[index] ^= 0x0000'0100;  // 4 of 5 elements of tile 2
  }
  now[16] ^= 0x8000'0000;  // element 1 of tile 3, which has 2
  BlockEncoder encoder;
  const Bytes block = encode(encoder, bytes_of(before), bytes_of(now), 5 * element_nbytes, 0, 1000);
  Bytes expected;
  put_stream(numbers({1, 2, 1, 2, 0, 5, 0, 1, 1}), 0, expected);
  const std::array<std::array<unsigned, 8>, 4> bits{{{0x11, 0, 0, 0, 0, 0, 0, 0},
                                                     {0x22, 0, 1, 1, 1, 1, 0, 0},
                                                     {0x33, 0, 0, 0, 0, 0, 0, 0},
                                                     {0x44, 8, 0, 0, 0, 0, 0, 0x80}}};
  for (std::size_t byte = 0; byte < element_nbytes; ++byte) {
    // Byte 0 is the byte at the lowest address.
    const auto& row = bits[std::endian::native == std::endian::little ? byte : 3 - byte];
    Bytes stream;
    for (const unsigned each : row) {
      stream.push_back(static_cast<std::byte>(each));
    }
    put_stream(stream, 0, expected);
  }
  EXPECT_EQ(block, expected);
  EXPECT_EQ(encoder.sizes().changed_elements, 7U);
  EXPECT_EQ(encoder.sizes().whole_tiles, 3 * 2 + 20 + 20 + 8U);
  EXPECT_EQ(encoder.sizes().elements, 3 * 2 + 10 + 20 + 5U);
  EXPECT_EQ(encoder.sizes().chosen, 3 * 2 + 10 + 20 + 5U);
  EXPECT_EQ(encoder.nbytes(), 0U);
}

TEST(ElementDelta, a_tile_is_whole_unless_its_elements_are_smaller) {
  const Values before(300);
  Values now = before;
  std::ranges::fill(std::span(now).first(239), 1U);  // 239 * 5 bytes are fewer than 1200
  BlockEncoder elements;
  encode(elements, bytes_of(before), bytes_of(now), 1200, 0);
  EXPECT_EQ(elements.sizes().chosen, 3 + 1195U);
  now[239] = 1;
  BlockEncoder whole;
  encode(whole, bytes_of(before), bytes_of(now), 1200, 0);
  EXPECT_EQ(whole.sizes().chosen, 3 + 1200U);
  EXPECT_EQ(whole.sizes().elements, 3 + 1200U);
  EXPECT_EQ(whole.sizes().changed_elements, 240U);
  now.assign(300, 1);
  BlockEncoder rewritten;
  encode(rewritten, bytes_of(before), bytes_of(now), 1200, 0);
  EXPECT_EQ(rewritten.sizes().chosen, 3 + 1200U);
  EXPECT_EQ(rewritten.sizes().elements, 3 + 1500U);
}

TEST(ElementDelta, bits_decide_and_not_values) {
  const std::uint32_t quiet = 0x7fc0'0001;
  BlockEncoder encoder;
  encoder.add(0, bytes_of({quiet, 1}), bytes_of({quiet, 1}));  // a NaN differs from itself
  EXPECT_EQ(encoder.nbytes(), 0U);
  const Bytes before = bytes_of({0, quiet, 7, 7});
  const Bytes now = bytes_of({0x8000'0000, 0x7f80'0002, 7, 7});
  encoder.add(0, before, now);
  EXPECT_EQ(encoder.nbytes(), 4 + 8U);
  const Bytes block = encoder.take_block(0);
  EXPECT_EQ(encoder.sizes().changed_elements, 2U);
  Bytes table = before;
  apply(block, table, 16);
  EXPECT_EQ(table, now);
}

TEST(ElementDelta, random_changes_are_restored_to_the_bit) {
  Random random(byre::test::seed());
  for (int round = 0; round < 60; ++round) {
    const std::size_t elements = random.number<std::size_t>(1, 3000);
    const std::size_t tile_elements = random.number<std::size_t>(1, 700);
    Values before(elements);
    std::ranges::generate(before, [&] { return static_cast<std::uint32_t>(random.engine()()); });
    Values now = before;
    unsigned percent = 0;
    std::uint64_t differ = 0;
    for (std::size_t index = 0; index < elements; ++index) {
      if (index % tile_elements == 0) {
        percent = random.one_of({0U, 0U, 1U, 3U, 50U, 85U, 100U});
      }
      if (random.chance(percent)) {
        now[index] = changed(random, now[index]);
        differ += now[index] != before[index] ? 1U : 0U;
      }
    }
    const std::size_t tile_nbytes = tile_elements * element_nbytes;
    const auto block_nbytes =
        random.one_of({std::size_t{1}, std::size_t{2000}, std::size_t{99999}});
    BlockEncoder encoder;
    const Bytes blocks = encode(encoder, bytes_of(before), bytes_of(now), tile_nbytes,
                                random.one_of({0, 1, 19}), block_nbytes);
    Bytes table = bytes_of(before);
    apply(blocks, table, tile_nbytes);
    EXPECT_EQ(table, bytes_of(now)) << "round " << round;
    EXPECT_EQ(encoder.sizes().changed_elements, differ);
    EXPECT_EQ(blocks.empty(), differ == 0);
    EXPECT_LE(encoder.sizes().chosen,
              std::min(encoder.sizes().whole_tiles, encoder.sizes().elements));
  }
}

TEST(ElementDelta, a_truncated_block_is_refused) {
  const Bytes block = block_of(numbers({1, 2, 1, 2}), 2);
  EXPECT_EQ(error_of(block), "");
  for (std::size_t nbytes = 0; nbytes < block.size(); ++nbytes) {
    EXPECT_NE(error_of(std::span(block).first(nbytes)).find("it ends too early"), std::string::npos)
        << nbytes;
  }
}

TEST(ElementDelta, places_outside_of_the_table_are_refused) {
  const std::string tile = "a changed tile is outside of the table";
  const std::string element = "a changed element is outside of its tile";
  const auto count = [](int number, int given, int most) {
    return format("tile %d has %d changed elements, allowed are 1 to %d", number, given, most);
  };
  for (const auto& [places, elements, said] :
       std::vector<std::tuple<Bytes, std::size_t, std::string>>{
           {numbers({2, 1, 1}), 1, ""},
           {numbers({2, 1, 2}), 1, element},
           {numbers({0, 1, 4}), 1, ""},
           {numbers({0, 1, 5}), 1, element},
           {numbers({0, 2, 3, 0}), 2, ""},
           {numbers({0, 2, 3, 1}), 2, element},
           {numbers({0, 2, 4, (std::uint64_t{1} << 63) - 1}), 2, element},
           {numbers({3, 1, 0}), 1, tile},
           {numbers({2, 2, 0, 1, 0}), 3, tile},
           {numbers({1, 1, 0, 1, 1, 0}), 2, tile},
           {numbers({(std::uint64_t{1} << 63) - 1, 1, 0}), 1, tile},
           {numbers({0, 0}), 1, count(0, 0, 1)},
           {numbers({1, 6}), 6, count(1, 6, 5)},
           {numbers({2, 3}), 3, count(2, 3, 2)},
           {numbers({0, 5, 1, 2}), 7, ""},
           {numbers({0, 5, 1, 2}), 6, count(2, 2, 1)},
           {numbers({0, 5, 1, 2}), 8, "some of its elements belong to no tile"},
           {numbers({0, 1}), 1, "it ends too early: 1 bytes are needed, 0 are left"},
           {Bytes(9, std::byte{0x80}), 0, "a number has more than 63 bits"}}) {
    EXPECT_EQ(error_of(block_of(places, elements)), said);
  }
  EXPECT_EQ(error_of(block_of(numbers({2, 1, 0}), 1), 10), tile);
}

TEST(ElementDelta, streams_of_wrong_sizes_are_refused) {
  const std::uint64_t huge = std::uint64_t{1} << 60;
  const auto stream_of = [](std::uint64_t nbytes, std::uint64_t stored_nbytes) {
    Bytes block;
    put_word(nbytes, block);
    put_word(stored_nbytes, block);
    block.resize(block.size() + 200);
    return block;
  };
  // The table has 48 bytes. With 3 tiles, places have at most 18 bytes more for each.
  const std::string places = "; at most 102 bytes fit the table";
  EXPECT_EQ(error_of(stream_of(huge, 1)),
            "a stream has 1152921504606846976 bytes, stored in 1" + places);
  EXPECT_EQ(error_of(stream_of(103, 103)), "a stream has 103 bytes, stored in 103" + places);
  EXPECT_EQ(error_of(stream_of(10, 11)), "a stream has 10 bytes, stored in 11" + places);
  EXPECT_EQ(error_of(stream_of(102, 102)).find("fit the table"), std::string::npos);
  EXPECT_EQ(error_of(block_of(numbers({0, 5}), 13)),
            "a stream has 13 bytes, stored in 13; at most 12 bytes fit the table");
  Bytes uneven;
  put_stream(numbers({0, 5}), 0, uneven);
  for (const std::size_t nbytes : {5U, 5U, 5U, 4U}) {
    put_stream(Bytes(nbytes), 0, uneven);
  }
  EXPECT_EQ(error_of(uneven), "its streams differ in their numbers of elements");
}

/// Frames of zstd: of 64 zero bytes, and one whose header states 2^60 bytes.
const std::vector<unsigned char> zeros_frame{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x40, 0x3d, 0x00,
                                             0x00, 0x08, 0x00, 0x01, 0x00, 0x94, 0x80, 0x10};
const std::vector<unsigned char> huge_frame{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0,    0, 0,
                                            0,    0,    0,    0,    0x10, 0x01, 0, 0};

TEST(ElementDelta, a_frame_of_zstd_has_exactly_the_stated_size) {
  for (const auto& [frame, nbytes, is_valid] :
       {std::tuple(zeros_frame, 63U, false), std::tuple(zeros_frame, 64U, has_zstd),
        std::tuple(zeros_frame, 65U, false), std::tuple(huge_frame, 64U, false)}) {
    Bytes stream;
    put_word(nbytes, stream);
    put_word(frame.size(), stream);
    for (const unsigned char byte : frame) {
      stream.push_back(static_cast<std::byte>(byte));
    }
    Cursor cursor(stream);
    try {
      EXPECT_EQ(take_stream(cursor, 1000), Bytes(64));
      EXPECT_TRUE(is_valid) << nbytes;
    } catch (const Failure& failure) {
      EXPECT_FALSE(is_valid);
      EXPECT_EQ(failure.what(),
                has_zstd ? "zstd cannot decompress a stream of " + std::to_string(nbytes) + " bytes"
                         : "it is compressed, and this program was built without zstd. Build the "
                           "program with libzstd (Debian: apt-get install libzstd-dev)");
    }
  }
}

TEST(ElementDelta, damaged_blocks_change_nothing_outside_of_the_table) {
  Random random(byre::test::seed());
  const Bytes before = bytes_of(Values(600, 1));
  Values changes(600, 1);
  for (std::size_t index = 0; index < 600; index += index < 300 ? 1 : 20) {
    changes[index] = 2;
  }
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    BlockEncoder encoder;
    Bytes blocks = encode(encoder, before, bytes_of(changes), 400, random.one_of({0, 1}),
                          1 + random.below(900U));
    for (int times = random.number(1, 3); times > 0; --times) {
      random.one_of(blocks) = static_cast<std::byte>(random.below(256));
    }
    Bytes guarded(before.size() + 200, std::byte{7});
    try {
      apply(blocks, std::span(guarded).subspan(100, before.size()), 400);
    } catch (const Failure&) {
      ++refused;
    }
    EXPECT_TRUE(std::ranges::all_of(std::span(guarded).first(100),
                                    [](std::byte byte) { return byte == std::byte{7}; }));
    EXPECT_TRUE(std::ranges::all_of(std::span(guarded).last(100),
                                    [](std::byte byte) { return byte == std::byte{7}; }));
  }
  EXPECT_GT(refused, 100);
}

TEST(ElementDelta, a_file_has_blocks_of_a_mebibyte) {
  const byre::test::TemporaryFolder folder;
  const std::size_t tile_nbytes = 65536;
  const Bytes before(36 * tile_nbytes);
  Bytes now(before.size(), std::byte{1});
  std::fill_n(now.begin(), tile_nbytes, std::byte{});  // so the first tile is unchanged
  const fs::path file = folder / "token-000000000009.delta";
  const DeltaHeader header{9, 8, 7, now.size(), tile_nbytes};
  for (const int level : {1, 0}) {
    DeltaWriter writer(file, header, level);
    for (std::size_t tile = 0; tile < 36; ++tile) {
      writer.add(tile, std::span(before).subspan(tile * tile_nbytes, tile_nbytes),
                 std::span(now).subspan(tile * tile_nbytes, tile_nbytes));
    }
    writer.finish();
    const std::uint32_t identity = writer.commit();
    if (level == 0 || !has_zstd) {
      // 16 tiles in each of two blocks, and 3 in the last. A block has five streams with two words.
      EXPECT_EQ(fs::file_size(file), 64 + writer.sizes().chosen + 3 * 5 * 2 * word_nbytes);
    } else {
      EXPECT_LT(fs::file_size(file), 10'000U);  // every block is compressed
    }
    const Delta delta = read_delta(file);
    EXPECT_EQ(delta.identity, identity);
    EXPECT_EQ(
        std::tuple(delta.header.token, delta.header.previous_token, delta.header.previous_identity,
                   delta.header.table_nbytes, delta.header.tile_nbytes),
        std::tuple(9U, 8U, 7U, now.size(), tile_nbytes));
    std::vector<char> table(before.size());
    delta.apply_to(table);
    EXPECT_EQ(std::memcmp(table.data(), now.data(), now.size()), 0);
  }
}

TEST(ElementDelta, a_restorer_starts_again_after_a_failure) {
  const byre::test::TemporaryFolder folder;
  const std::string npy_header = byre::npy_header(byre::DType::f32, {10});
  byre::test::write_file(folder / "token-000000000001.npy", npy_header + std::string(40, '\1'));
  const std::string now = npy_header + std::string(40, '\2');
  Checksum checksum;
  checksum.process_bytes((npy_header + std::string(40, '\1')).data(), npy_header.size() + 40);
  const fs::path file = folder / "token-000000000002.delta";
  DeltaWriter writer(file, {2, 1, checksum.checksum(), 40, 20}, 0);
  for (const std::uint64_t tile : {0U, 1U}) {
    writer.add(tile, Bytes(20, std::byte{1}), Bytes(20, std::byte{2}));
  }
  writer.finish();
  writer.commit();
  const std::string whole = byre::test::read_file(file);
  std::string wrong = whole;
  wrong.at(56 + 16 + 2) = 1;  // skips a tile that the table does not have
  Checksum of_wrong;
  of_wrong.process_bytes(wrong.data(), wrong.size() - 8);
  Bytes end;
  put_word(of_wrong.checksum(), end);
  std::memcpy(wrong.data() + wrong.size() - 8, end.data(), 8);
  byre::test::write_file(file, wrong);
  Restorer restorer;
  EXPECT_THROW(restorer.load(file), Failure);
  byre::test::write_file(file, whole);
  restorer.load(file);
  EXPECT_EQ(std::string(restorer.npy().begin(), restorer.npy().end()), now);
}

}  // namespace
}  // namespace examples::live_checkpoint
