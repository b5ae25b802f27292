// SPDX-License-Identifier: BSL-1.0
/// Random in-place operations between views of one storage or of lazy clones, compared with a model
/// of plain bytes. An operation either is rejected and changes nothing, or computes the result that
/// it would compute with copies of its operands.
#include "elements_support.hpp"

#include <byre/tensor/layout.hpp>
#include <byre/tensor/print.hpp>

#include <cstring>
#include <set>

#include "support/random.hpp"

namespace byre::test {
namespace {

using byre::Layout;

using Block = std::array<std::uint8_t, 192>;

struct InPlaceOperation {
  const char* name;
  Tensor (*run)(Tensor, const Tensor&, byre::CallSite);
  std::uint64_t (*model)(std::uint64_t, std::uint64_t);  ///< modulo 2^(bits of the output)
};

const std::array operations{
    InPlaceOperation{"add_", byre::add_, [](auto a, auto b) { return a + b; }},
    InPlaceOperation{"sub_", byre::sub_, [](auto a, auto b) { return a - b; }},
    InPlaceOperation{"mul_", byre::mul_, [](auto a, auto b) { return a * b; }},
    InPlaceOperation{"copy_", byre::copy_, [](auto, auto b) { return b; }},
};

/// A view, with an integral dtype, of a storage that has the size of a Block.
struct View {
  DType dtype;
  Layout layout;

  Tensor of(const Tensor& bytes) const {
    return bytes.view(dtype).as_strided(layout.sizes, layout.strides, layout.offset);
  }
  std::size_t itemsize() const { return byre::itemsize(dtype); }
  std::size_t first_byte(const Dims& indices) const {
    std::int64_t element = layout.offset;
    const std::size_t added = indices.size() - layout.ndim();  // dimensions that broadcasting adds
    for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
      element += layout.sizes[axis] == 1 ? 0 : indices[added + axis] * layout.strides[axis];
    }
    return static_cast<std::size_t>(element) * itemsize();
  }
  std::uint64_t read(const Block& bytes, const Dims& indices) const {
    return byre::visit(dtype, "read", [&]<class T>() -> std::uint64_t {
      if constexpr (std::is_integral_v<T>) {
        T value;
        std::memcpy(&value, bytes.data() + first_byte(indices), sizeof(T));
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      }
      return 0;
    });
  }
  void write(Block& bytes, const Dims& indices, std::uint64_t value) const {
    byre::visit(dtype, "write", [&]<class T>() {
      if constexpr (std::is_integral_v<T>) {
        const auto element = static_cast<T>(value);
        std::memcpy(bytes.data() + first_byte(indices), &element, sizeof element);
      }
    });
  }
  bool repeats_elements() const {
    std::set<std::size_t> seen;
    bool repeats = false;
    for_each_index(layout.sizes, [&](const Dims& indices) {
      repeats = !seen.insert(first_byte(indices)).second || repeats;
    });
    return repeats;
  }
  std::string text() const {
    return std::string(byre::name_of(dtype)) + to_string(layout.sizes) + " by " +
           to_string(layout.strides) + " from " + std::to_string(layout.offset);
  }
};

class RandomInPlaceTest : public testing::Test {
 protected:
  std::int64_t random(std::int64_t least, std::int64_t most) { return random_.number(least, most); }
  bool one_in(std::int64_t count) { return random(1, count) == 1; }

  /// A random view. Some of its sizes and strides, and its offset, may equal those of `like`.
  View random_view(const View& like, bool may_broadcast) {
    for (;;) {
      constexpr std::array dtypes{DType::u8, DType::i16, DType::i32, DType::i64};
      View view = like;
      if (one_in(4)) {
        view.dtype = dtypes[static_cast<std::size_t>(random(0, 3))];
      }
      if (may_broadcast && one_in(4) && view.layout.ndim() > 0) {
        view.layout.sizes.erase(view.layout.sizes.begin());
        view.layout.strides.erase(view.layout.strides.begin());
      }
      for (std::size_t axis = 0; axis < view.layout.ndim(); ++axis) {
        if (may_broadcast && one_in(6)) {
          view.layout.sizes[axis] = 1;
        }
        if (one_in(3)) {
          view.layout.strides[axis] = random(0, 9);
        }
      }
      if (one_in(2)) {
        view.layout.offset = random(0, 12);
      }
      const auto nbytes = static_cast<std::size_t>(view.layout.end()) * view.itemsize();
      if (nbytes <= std::tuple_size_v<Block>) {
        return view;
      }
    }
  }
  View random_target() {
    Dims sizes(static_cast<std::size_t>(random(0, 3)));
    for (std::int64_t& size : sizes) {
      size = random(one_in(20) ? 0 : 1, one_in(3) ? 12 : 4);
    }
    return random_view({DType::i16, byre::contiguous_layout(sizes, "test")}, false);
  }

  Block random_bytes() {
    Block bytes;
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random(0, 255));
    }
    return bytes;
  }

  Random random_{seed()};
};

Tensor tensor_of(const Block& bytes) {
  return Tensor::of<std::uint8_t>({static_cast<std::int64_t>(bytes.size())},
                                  std::span<const std::uint8_t>(bytes));
}

Block block_of(const Tensor& tensor) {
  Block bytes;
  std::memcpy(bytes.data(), tensor.raw_data(), bytes.size());
  return bytes;
}

TEST_F(RandomInPlaceTest, an_operation_is_rejected_or_reads_operands_before_it_writes) {
  int done = 0;
  int refused = 0;
  int taken_for_overlapping = 0;  // targets that are rejected although they repeat no element
  for (int round = 0; round < 20'000; ++round) {
    const Block before = random_bytes();
    Tensor memory = tensor_of(before);
    const Tensor clone = memory.lazy_clone();
    const View target = random_target();
    const View source = random_view(target, true);
    const bool is_of_clone = one_in(4);
    const InPlaceOperation& operation = operations[static_cast<std::size_t>(random(0, 3))];
    SCOPED_TRACE(operation.name + (": " + target.text()) + " with " + source.text() +
                 (is_of_clone ? " of a lazy clone" : ""));
    Tensor written = target.of(memory);
    Block expected = before;
    bool is_refused = false;
    try {
      operation.run(written, source.of(is_of_clone ? clone : memory), byre::CallSite::current());
      for_each_index(target.layout.sizes, [&](const Dims& indices) {
        target.write(expected, indices,
                     operation.model(target.read(before, indices), source.read(before, indices)));
      });
    } catch (const byre::ShapeError&) {
      is_refused = true;
    }
    ASSERT_EQ(block_of(memory), expected) << (is_refused ? "a rejected operation wrote" : "");
    ASSERT_EQ(block_of(clone), before);
    ASSERT_TRUE(is_refused || !target.repeats_elements());
    ASSERT_FALSE(is_refused && is_of_clone && !byre::may_overlap_itself(target.layout));
    ++(is_refused ? refused : done);
    taken_for_overlapping += may_overlap_itself(target.layout) && !target.repeats_elements();
  }
  EXPECT_GT(done, 2000);
  EXPECT_GT(refused, 2000);
  EXPECT_LT(taken_for_overlapping, 1000);
}

TEST(InPlace, operations_write_temporary_views_and_return_the_target) {
  Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  fill_(x.select(0, 1), 9);
  const Tensor same = mul_(x, x);
  EXPECT_EQ(to_string(x), "[[ 1.  4.]\n [81. 81.]]");
  EXPECT_EQ(same.handle_count(), 2U) << "must be another handle to the same tensor";
}

}  // namespace
}  // namespace byre::test
