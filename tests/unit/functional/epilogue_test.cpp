// SPDX-License-Identifier: BSL-1.0
// What functionalize() writes to its inputs once the program is done, and what it copies for that.
#include "tensors.hpp"

namespace byre::test {
namespace {

#if BYRE_STATS

constexpr std::int64_t large = 1 << 20;
constexpr std::int64_t large_nbytes = 4 * large;

float value_at(const AnyTensor& x, std::int64_t index) {
  return to_cpu(x).at<float>({index});
}

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

TEST_P(Epilogue, copies_nothing_of_a_large_input_of_which_one_element_is_written) {
  const AnyTensor x = zeros({large});
  const Program f = functionalized([](const Tensors& in) {
    call("fill_", {element(in[0], 7), 3});
    return Tensors();
  });
  EXPECT_LT(bytes_copied_by([&] { f({x}); }), 1024);
  EXPECT_EQ(value_at(x, 7), 3);
  EXPECT_EQ(value_at(x, 8), 0);
}

TEST_P(Epilogue, copies_an_input_once_of_which_elements_are_read_and_written) {
  const AnyTensor x = zeros({large});
  const Program f = functionalized([](const Tensors& in) {
    for (std::int64_t index = 0; index < 10; ++index) {
      call("add_.scalar", {element(in[0], 100 * index), index});
    }
    return Tensors();
  });
  EXPECT_LE(bytes_copied_by([&] { f({x}); }), large_nbytes + 1024);
  EXPECT_EQ(value_at(x, 900), 9);
}

TEST_P(Epilogue, copies_an_input_once_that_is_used_after_it_was_written) {
  const AnyTensor x = zeros({large});
  const Program f = functionalized([](const Tensors& in) {
    call("fill_", {element(in[0], 7), 3});
    return Tensors{call_for_one("sum", {in[0]})};
  });
  Tensors sums;
  EXPECT_LE(bytes_copied_by([&] { sums = f({x}); }), large_nbytes + 1024);
  EXPECT_EQ(text_of(sums[0]), "3.");
  EXPECT_EQ(value_at(x, 7), 3);
}

TEST_P(Epilogue, copies_what_is_seen_alone_of_an_input_that_is_written_to_itself) {
  const AnyTensor x = zeros({large});
  to_cpu(x).set_at<float>({1}, 5);
  const Program f = functionalized([](const Tensors& in) {
    call("copy_", {element(in[0], 7), element(in[0], 1)});
    return Tensors();
  });
  EXPECT_LT(bytes_copied_by([&] { f({x}); }), 1024);
  EXPECT_EQ(value_at(x, 7), 5);
}

TEST_P(Epilogue, of_a_graph_lets_go_of_the_memory_that_it_writes) {
  const AnyTensor x = zeros({large});
  const CapturedProgram program = capture(
      [](const Tensors& in) {
        call("fill_", {element(in[0], 7), 3});
        return Tensors();
      },
      {x}, GetParam());
  EXPECT_LE(bytes_copied_by([&] { program({x}); }), large_nbytes + 1024);
  EXPECT_EQ(value_at(x, 7), 3);
}

TEST_P(Epilogue, of_writes_through_views_of_views_copies_an_input_once) {
  constexpr std::int64_t columns = 1 << 10;
  const AnyTensor x = zeros({large / columns, columns});
  const CapturedProgram program = capture(
      [](const Tensors& in) {
        for (std::int64_t row = 0; row < 10; ++row) {
          call("fill_", {call_for_one("slice", {element(in[0], row), 0, 2, 5}), row});
        }
        return Tensors{call_for_one("sum", {element(in[0], 9)})};
      },
      {x}, GetParam());
  EXPECT_LE(bytes_copied_by([&] { program({x}); }), large_nbytes + 30 * 4 * columns);
  EXPECT_EQ(to_cpu(x).at<float>({9, 4}), 9);
}

TEST_P(Epilogue, views_that_are_used_keep_no_more_than_they_see) {
  if (GetParam().reapply_views) {
    GTEST_SKIP() << "true views keep all of what they are of";
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
  // Each part is copied when it is seen, and the first one each time that its update is applied.
  EXPECT_LE(bytes_copied_by([&] { f({x}); }), 4 * large_nbytes);
}

INSTANTIATE_TEST_SUITE_P(Each, Epilogue, testing::ValuesIn(all_options), name_of_options);

#endif

/// What `f` writes is written, and no element more, whatever is there by then.
void expect_writes_of(const Program& f, const AnyTensor& x, const std::string& expected) {
  const Program change_rest = [&](const Tensors& in) {
    const Tensors out = f(in);
    byre::fill_(to_cpu(x), 9);
    return out;
  };
  functionalize(change_rest)({x});
  EXPECT_EQ(text_of(x), expected);
}

TEST(EpilogueWrites, the_windows_that_were_written) {
  const AnyTensor x = zeros({2, 3});
  expect_writes_of(
      [](const Tensors& in) {
        call("fill_", {call_for_one("select", {in[0], 1, 1}), 1});
        return Tensors();
      },
      x, "[[9. 1. 9.]\n [9. 1. 9.]]");
}

TEST(EpilogueWrites, windows_of_updates_that_were_used_meanwhile) {
  const AnyTensor x = zeros({4});
  expect_writes_of(
      [](const Tensors& in) {
        call("fill_", {call_for_one("slice", {in[0], 0, 0, 2}), 1});
        call("add_.scalar", {element(in[0], 3), 2});
        call("sum", {in[0]});
        call("fill_", {element(in[0], 1), 5});
        return Tensors();
      },
      x, "[1. 5. 9. 2.]");
}

TEST(EpilogueWrites, no_more_of_windows_that_overlap) {
  const AnyTensor x = zeros({4});
  expect_writes_of(
      [](const Tensors& in) {
        call("fill_", {call_for_one("slice", {in[0], 0, 0, 3}), 1});
        call("sum", {in[0]});
        call("fill_", {call_for_one("slice", {in[0], 0, 1, 3}), 2});
        call("sum", {in[0]});
        return Tensors();
      },
      x, "[1. 2. 2. 9.]");
}

TEST(EpilogueWrites, the_last_of_what_was_written_to_an_element) {
  const AnyTensor x = zeros({6});
  expect_writes_of(
      [](const Tensors& in) {
        const AnyTensor first = call_for_one("slice", {in[0], 0, 0, 2});
        call("fill_", {first, 1});
        call("fill_", {call_for_one("slice", {in[0], 0, 1, 3}), 2});
        call("sum", {in[0]});
        call("fill_", {first, 3});
        return Tensors();
      },
      x, "[3. 3. 2. 9. 9. 9.]");
}

TEST(EpilogueWrites, windows_of_more_dimensions_than_are_copied_in_place) {
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

// ---- what an alias knows of it

TEST(Inverses, that_fail_leave_the_base_what_it_was) {
  const ViewInfo second{ViewKind::select, {0, 1}, {{3}, DType::f32}};
  AnyTensor base = counted(3);
  EXPECT_THROW(second.invert(base, counted(2)), ShapeError);
  EXPECT_EQ(text_of(base), "[0. 1. 2.]");
}

TEST(WrittenWindows, are_each_told_once) {
  const auto alias = make_counted<Alias>(zeros({8}));
  alias->track_writes();
  FunctionalTensor x(alias, ViewPath(ViewGeometry::of_all({8}, DType::f32)));
  EXPECT_TRUE(alias->written_regions().empty());
  const ViewPath second =
      x.path().by_strides({views::select(x.path().geometry().layout, 0, 1), DType::f32, 32});
  FunctionalTensor part(alias, second);
  for (float value = 0; value < 5; ++value) {
    part.prepare_write("test").commit(call_for_one("full", {Dims(), value}));
    x.sync();  // which applies it
  }
  part.prepare_write("test").commit(zeros({}));  // which replaces what was applied
  ASSERT_EQ(alias->written_regions().size(), 1U);
  EXPECT_EQ(alias->written_regions()[0], second.geometry());
  EXPECT_EQ(alias->written_parts().size(), 1U);
}

TEST(WrittenWindows, are_the_base_where_there_are_too_many) {
  const auto most = static_cast<std::int64_t>(functional::detail::alias_bounds().regions);
  const ViewGeometry whole = ViewGeometry::of_all({2 * most}, DType::f32);
  const auto alias = make_counted<Alias>(zeros({2 * most}));
  alias->track_writes();
  FunctionalTensor x(alias, ViewPath(whole));
  for (std::int64_t index = 0; index <= most; ++index) {
    FunctionalTensor part(alias,
                          x.path().by_strides(whole.with(views::select(whole.layout, 0, index))));
    part.prepare_write("test").commit(call_for_one("zeros", {Dims()}));
    x.sync();
    ASSERT_EQ(alias->written_regions().size(),
              index < most ? static_cast<std::size_t>(index) + 1 : 1U);
  }
  EXPECT_EQ(alias->written_regions()[0], whole);
}

TEST(WrittenWindows, are_the_base_where_that_is_written) {
  const auto alias = make_counted<Alias>(zeros({2, 2}));
  alias->track_writes();
  FunctionalTensor x(alias, ViewPath(ViewGeometry::of_all({2, 2}, DType::f32)));
  FunctionalTensor row(alias, x.path().by_strides({views::select(x.path().geometry().layout, 0, 1),
                                                   DType::f32, 16}));
  row.prepare_write("test").commit(call_for_one("zeros", {{2}}));
  x.prepare_write("test").commit(call_for_one("zeros", {{2, 2}}));
  row.prepare_write("test").commit(call_for_one("ones", {{2}}));
  const auto parts = alias->written_parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].geometry, x.path().geometry());
  EXPECT_EQ(parts[1].geometry, row.path().geometry());
  EXPECT_EQ(text_of(parts[1].value), "[1. 1.]");
}

}  // namespace
}  // namespace byre::test
