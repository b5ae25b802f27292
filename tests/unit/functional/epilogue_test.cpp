// SPDX-License-Identifier: BSL-1.0
// The epilogue: functionalize() writes the inputs after the program has run. These tests also count
// the bytes that the epilogue copies.
#include <byre/functional/functionalize/detail/write_back.hpp>

#include "support/failing_allocator.hpp"
#include "support/tensor/fake_device.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

using Step = Tensors (*)(const AnyTensor& x);

#if BYRE_STATS

constexpr std::int64_t large = 1 << 20;
constexpr std::int64_t large_nbytes = 4 * large;

template <class Block>
std::int64_t bytes_copied_by(const Block& block) {
  const stats::Counters before = stats::snapshot();
  block();
  return (stats::snapshot() - before).bytes_copied;
}

class Epilogue : public testing::TestWithParam<FunctionalizeOptions> {
 protected:
  static Program functionalized(Program f) { return functionalize(std::move(f), GetParam()); }
};

TEST_P(Epilogue, an_input_is_copied_once_if_read_after_a_write) {
  struct Row {
    const char* name;
    Step program;
    std::int64_t copied;
    std::pair<std::int64_t, float> written;
    bool is_captured = false;
  };
  const auto fill_one = [](const AnyTensor& x) { return call("fill_", {element(x, 7), 3}); };
  const Row rows[] = {
      {"one element is written", fill_one, 0, {7, 3}},
      {"elements are read and written",
       [](const AnyTensor& x) {
         for (std::int64_t index = 0; index < 10; ++index) {
           call("add_.scalar", {element(x, 100 * index), index});
         }
         return Tensors();
       },
       large_nbytes,
       {900, 9}},
      {"the input is used after it was written",
       [](const AnyTensor& x) {
         call("fill_", {element(x, 7), 3});
         return call("copy_", {element(x, 8), call_for_one("sum", {x})});
       },
       large_nbytes,
       {8, 8}},
      {"the input is written to itself",
       [](const AnyTensor& x) {
         return call("copy_", {element(x, 7), element(x, 1)});
       },
       0,
       {7, 5}},
      {"a graph writes it", fill_one, large_nbytes, {7, 3}, true},
  };
  for (const Row& row : rows) {
    const AnyTensor x = zeros({large});
    to_cpu(x).set_at<float>({1}, 5);
    const Program f = [&row](const Tensors& in) { return row.program(in[0]); };
    const Program run = row.is_captured ? Program(capture(f, {x}, GetParam())) : functionalized(f);
    EXPECT_LE(bytes_copied_by([&] { run({x}); }), row.copied + 1024) << row.name;
    EXPECT_EQ(to_cpu(x).at<float>({row.written.first}), row.written.second) << row.name;
  }
}

TEST_P(Epilogue, using_a_view_copies_only_the_elements_of_the_view) {
  if (GetParam().reapply_views) {
    GTEST_SKIP() << "a true view keeps its whole base alive";
  }
  constexpr std::int64_t rows = 128;
  const AnyTensor x = zeros({rows, large / rows});
  const Program f = functionalized([](const Tensors& in) {
    const Tensors parts = call("unbind", {in[0]});
    for (const AnyTensor& part : parts) {
      call("sum", {part});
      call("fill_", {parts.front(), 1});
    }
    return Tensors();
  });
  // Each row is copied when it is used. The first row is also copied when its update is applied.
  EXPECT_LE(bytes_copied_by([&] { f({x}); }), 4 * large_nbytes);
}

INSTANTIATE_TEST_SUITE_P(Each, Epilogue, testing::ValuesIn(all_options), name_of_options);

#endif

AnyTensor part(const AnyTensor& x, std::int64_t start, std::int64_t end) {
  return call_for_one("slice", {x, 0, start, end});
}
Tensors fill(const AnyTensor& x, int value) {
  return call("fill_", {x, value});
}
Tensors use(const AnyTensor& x) {
  return call("sum", {x});
}

// The epilogue writes the elements that the program wrote. All other elements keep the values that
// they have when the epilogue runs.
TEST(EpilogueWrites, written_regions_get_their_last_value) {
  const std::pair<std::vector<Step>, const char*> all[] = {
      {{[](const AnyTensor& x) {
         return fill(call_for_one("slice", {x, 0, 1, 6, 2}), 1);
       }},
       "[9. 1. 9. 1. 9. 1.]"},
      {{[](const AnyTensor& x) { return fill(part(x, 0, 2), 1); },
        [](const AnyTensor& x) {
          return call("add_.scalar", {element(x, 3), 2});
        },
        use, [](const AnyTensor& x) { return fill(element(x, 1), 5); }},
       "[1. 5. 9. 2. 9. 9.]"},
      {{[](const AnyTensor& x) { return fill(part(x, 0, 3), 1); }, use,
        [](const AnyTensor& x) { return fill(part(x, 1, 3), 2); }, use},
       "[1. 2. 2. 9. 9. 9.]"},
      {{[](const AnyTensor& x) { return fill(part(x, 0, 2), 1); },
        [](const AnyTensor& x) { return fill(part(x, 1, 3), 2); }, use,
        [](const AnyTensor& x) { return fill(part(x, 0, 2), 3); }},
       "[3. 3. 2. 9. 9. 9.]"},
  };
  for (const auto& [steps, expected] : all) {
    const AnyTensor x = zeros({6});
    functionalize([&, &steps = steps](const Tensors& in) {
      for (const Step step : steps) {
        step(in[0]);
      }
      byre::fill_(to_cpu(x), 9);
      return Tensors();
    })({x});
    EXPECT_EQ(text_of(x), expected);
  }
}

TEST(EpilogueWrites, regions_with_eight_dimensions_are_written_correctly) {
  const Dims sizes{2, 3, 2, 3, 2, 3, 2, 3};
  const AnyTensor x = zeros(sizes);
  const AnyTensor plain = zeros(sizes);
  const Program f = [&](const Tensors& in) {
    AnyTensor part = in[0];
    for (std::int64_t axis = 0; axis < 8; axis += 2) {
      part = call_for_one("slice", {part, axis, 0, 1});
      part = call_for_one("slice", {part, axis + 1, 0, 3, 2});
    }
    AnyTensor numbers = call_for_one("arange", {16, DType::f32});
    numbers = call_for_one("view", {numbers, {1, 2, 1, 2, 1, 2, 1, 2}});
    call("copy_", {part, call_for_one("permute", {numbers, {0, 7, 2, 5, 4, 3, 6, 1}})});
    return Tensors();
  };
  f({plain});
  functionalize(f)({x});
  EXPECT_EQ(text_of(x), text_of(plain));
}

// ---- an error leaves all memory unwritten, also of devices, which are written before the host

std::string text_on_host(const Tensor& tensor) {
  return byre::to_string(tensor.to(Device::cpu()));
}

TEST(WriteBackTest, a_failed_host_copy_leaves_the_device_unwritten) {
  FailingAllocator allocator;
  const Tensor there = Tensor::zeros({2}, DType::f32).to(FakeDevice::first().device());
  const Tensor shared = zero_(*std::make_unique<Tensor>(Tensor::empty({2}, DType::f32, allocator)));
  const Tensor other = shared.lazy_clone();
  const Tensor ones = Tensor::of<float>({2}, {1, 1});
  const auto write_both = [&] {
    WriteBack writes("test");
    writes.write(there, ones);
    writes.write(shared, ones);
    writes.commit();
  };
  const std::string zeros = byre::to_string(other);
  allocator.fail_allocation(0);
  EXPECT_THROW(write_both(), OutOfMemory);
  EXPECT_EQ(text_on_host(there), zeros);
  EXPECT_EQ(byre::to_string(shared), zeros);
  write_both();
  EXPECT_EQ(text_on_host(there), byre::to_string(ones));
  EXPECT_EQ(byre::to_string(shared), byre::to_string(ones));
  EXPECT_EQ(byre::to_string(other), zeros);
}

// ---- the written regions that an alias records

TEST(Inverses, a_failed_inverse_leaves_the_base_unchanged) {
  const ViewInfo second{ViewKind::select, {0, 1}, {{3}, DType::f32}};
  AnyTensor base = ascending(3);
  EXPECT_THROW(second.invert(base, ascending(2)), ShapeError);
  EXPECT_EQ(text_of(base), "[0. 1. 2.]");
}

/// A base of zeros with tracked writes.
struct TrackedBase {
  explicit TrackedBase(const Dims& sizes)
      : whole(ViewGeometry::of_all(sizes, DType::f32)), alias(make_counted<Alias>(zeros(sizes))) {
    alias->track_writes();
  }
  /// Writes `value` to the region `part`.
  void write(const ViewGeometry& part, float value) const {
    FunctionalTensor seen(alias, ViewPath(whole).by_strides(part));
    seen.prepare_write("test").commit(call_for_one("full", {part.layout.sizes, value}));
  }
  std::vector<ViewGeometry> regions() const {
    std::vector<ViewGeometry> regions;
    for (const Alias::Region& part : alias->written_regions(false)) {
      regions.push_back(part.geometry);
    }
    return regions;
  }
  ViewGeometry row(std::int64_t index) const {
    return whole.with(views::select(whole.layout, 0, index));
  }

  ViewGeometry whole;
  FunctionalTensor::AliasHandle alias;
};

TEST(WrittenRegions, a_region_written_repeatedly_is_reported_once) {
  const TrackedBase base({8});
  EXPECT_TRUE(base.regions().empty());
  for (float value = 0; value < 5; ++value) {
    base.write(base.row(1), value);
    base.alias->sync_base();  // applies the update
  }
  base.write(base.row(1), 0);  // replaces the region of the applied update
  EXPECT_EQ(base.regions(), std::vector{base.row(1)});
  EXPECT_EQ(base.alias->written_regions().size(), 1U);
}

TEST(WrittenRegions, more_regions_than_the_bound_are_merged_to_the_whole_base) {
  const auto most = static_cast<std::int64_t>(functional::detail::alias_bounds().regions);
  const TrackedBase base({2 * most});
  for (std::int64_t index = 0; index <= most; ++index) {
    base.write(base.row(index), 0);
    base.alias->sync_base();
    ASSERT_EQ(std::ssize(base.regions()), index < most ? index + 1 : 1);
  }
  EXPECT_EQ(base.regions(), std::vector{base.whole});
}

TEST(WrittenRegions, a_write_to_the_whole_base_replaces_all_earlier_regions) {
  const TrackedBase base({2, 2});
  base.write(base.row(1), 0);
  base.write(base.whole, 0);
  base.write(base.row(1), 1);
  const auto parts = base.alias->written_regions();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].geometry, base.whole);
  EXPECT_EQ(parts[1].geometry, base.row(1));
  EXPECT_EQ(text_of(parts[1].value), "[1. 1.]");
}

}  // namespace
}  // namespace byre::test
