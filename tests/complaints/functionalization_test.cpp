// SPDX-License-Identifier: BSL-1.0
// Cases from complaints about functionalization in other systems, most of them about as_strided. In
// byre, a functionalized program must have the results of a program without the pass.
// docs/answers.md links each complaint.
#include <byre/functional.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "support/complaint.hpp"

namespace byre::test {
namespace {

using namespace functional;
using functional::call;
using functional::call_for_one;

/// Returns a tensor of 0, 1, 2, ... whose memory is `count` elements long.
AnyTensor counted(std::int64_t count) {
  return call_for_one("arange", {count, DType::f32});
}

std::string text_of(const AnyTensor& tensor) {
  return to_string(to_cpu(tensor));
}

/// Runs `f` on a view of 0, 1, 2, ... directly, functionalized in every way, and as a graph.
/// Expects the text of the result, and the text of the whole memory afterwards.
void expect_everywhere(const Program& f, std::int64_t count,
                       const std::function<AnyTensor(const AnyTensor&)>& view,
                       const std::string& returned, const std::string& memory_after) {
  const auto expect = [&](const std::string& how,
                          const std::function<Program(const Program&)>& transform) {
    const AnyTensor memory = counted(count);
    const AnyTensor input = view(memory);
    EXPECT_EQ(text_of(transform(f)({input}).front()), returned) << how;
    EXPECT_EQ(text_of(memory), memory_after) << how;
  };
  expect("in memory", [](const Program& program) { return program; });
  for (const bool reapply_views : {false, true}) {
    for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
      const std::string how = std::string("functionalized, ") +
                              (reapply_views ? "with views" : "without views") +
                              (paths == ViewPaths::chains ? ", by chains" : ", by strides");
      expect(how, [&](const Program& program) {
        return functionalize(program, {reapply_views, paths});
      });
    }
  }
  expect("as a graph", [&](const Program& program) -> Program {
    return [&program](const Tensors& in) { return capture(program, in)(in); };
  });
}

const auto all = [](const AnyTensor& memory) { return memory; };

TEST(Complaints, a_write_through_as_strided_of_a_view_writes_the_storage) {
  const auto two_by_four = [](const AnyTensor& memory) {
    return call_for_one("view", {memory, {2, 4}});
  };
  const Program f = [](const Tensors& in) {
    const AnyTensor diagonal = call_for_one("diagonal", {in[0]});
    call("add_.scalar", {call_for_one("as_strided", {diagonal, {2}, {1}, 0}), 10});
    return Tensors{in[0]};
  };
  expect_everywhere(f, 8, two_by_four, "[[10. 11.  2.  3.]\n [ 4.  5.  6.  7.]]",
                    "[10. 11.  2.  3.  4.  5.  6.  7.]");
}

TEST(Complaints, as_strided_of_a_slice_can_view_the_whole_storage) {
  const Program f = [](const Tensors& in) {
    const AnyTensor part = call_for_one("slice", {in[0], 0, 2});
    return Tensors{call_for_one("as_strided", {part, {6}, {1}, 0})};
  };
  expect_everywhere(f, 6, all, "[0. 1. 2. 3. 4. 5.]", "[0. 1. 2. 3. 4. 5.]");
}

TEST(Complaints, as_strided_of_an_input_writes_storage_outside_the_input) {
  const auto first_three = [](const AnyTensor& memory) {
    return call_for_one("slice", {memory, 0, 0, 3});
  };
  const Program f = [](const Tensors& in) {
    const AnyTensor beyond = call_for_one("as_strided", {in[0], {3}, {1}, 2});
    call("add_.scalar", {beyond, 10});
    return Tensors{beyond};
  };
  expect_everywhere(f, 6, first_three, "[12. 13. 14.]", "[ 0.  1. 12. 13. 14.  5.]");
}

TEST(Complaints, as_strided_after_a_write_to_a_strided_input_is_correct) {
  const auto every_other = [](const AnyTensor& memory) {
    return call_for_one("slice", {memory, 0, 0, 10, 2});
  };
  const auto f = [](const char* read) -> Program {
    return [read](const Tensors& in) {
      call("add_.scalar", {in[0], 1});
      return Tensors{call_for_one("clone", {call_for_one(read, {in[0], {3}, {2}})})};
    };
  };
  const std::string memory_after = "[1. 1. 3. 3. 5. 5. 7. 7. 9. 9.]";
  // as_strided counts its strides in elements of the memory, as_strided_copy in elements of the
  // input.
  expect_everywhere(f("as_strided"), 10, every_other, "[1. 3. 5.]", memory_after);
  expect_everywhere(f("as_strided_copy"), 10, every_other, "[1. 5. 9.]", memory_after);
}

TEST(Complaints, interleaved_writes_through_as_strided_and_slice_are_correct) {
  const Program f = [](const Tensors& in) {
    const AnyTensor even = call_for_one("as_strided", {in[0], {3}, {2}, 0});
    const AnyTensor tail = call_for_one("slice", {in[0], 0, 3});
    const AnyTensor middle = call_for_one("as_strided", {tail, {2}, {1}, 2});
    call("fill_", {even, 7});                             // 7 1 7 3 7 5
    call("fill_", {tail, 5});                             // 7 1 7 5 5 5
    call("fill_", {middle, 9});                           // 7 1 9 9 5 5
    call("add_", {even, call_for_one("clone", {tail})});  // 16 1 14 9 10 5
    return Tensors{even};
  };
  expect_everywhere(f, 6, all, "[16. 14. 10.]", "[16.  1. 14.  9. 10.  5.]");
}

TEST(Complaints, a_write_through_a_self_overlapping_as_strided_is_rejected) {
  const Program f = [](const Tensors& in) {
    call("add_.scalar", {call_for_one("as_strided", {in[0], {3, 2}, {1, 1}, 0}), 1});
    return Tensors{in[0]};
  };
  for (const Program& run : {f, functionalize(f)}) {
    const AnyTensor x = counted(4);
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { run({x}); }), "Call clone() on it first"));
    EXPECT_EQ(text_of(x), "[0. 1. 2. 3.]");
  }
}

}  // namespace
}  // namespace byre::test
