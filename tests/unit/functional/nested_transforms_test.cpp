// SPDX-License-Identifier: BSL-1.0
// Transforms within functionalize() and capture(): the outer pass handles all views and writes.
#include <ostream>

#include "tensors.hpp"

namespace byre::test {
namespace {

/// Writes views of the input. Returns a new tensor that was written through views, the input, and a
/// view of the input.
Tensors in_place(const Tensors& in) {
  const AnyTensor first = element(in[0], 0);
  call("mul_.scalar", {first, 2});
  call("add_", {call_for_one("select", {in[0], -1, 1}), call_for_one("clone", {first})});
  const AnyTensor sums = call_for_one("zeros", {in[0].sizes()});
  call("add_", {call_for_one("transpose", {sums, 0, 1}), in[0]});
  call("fill_", {element(sums, 1), 3});
  return {sums, in[0], element(in[0], 1)};
}

/// Applies `f` to each member of a batch along `axis`, in a loop over views.
Program looped(const Program& f, std::int64_t axis) {
  return [f, axis](const Tensors& in) {
    std::vector<Tensors> of_each;
    for (std::int64_t index = 0; index < in[0].sizes()[static_cast<std::size_t>(axis)]; ++index) {
      of_each.push_back(f({call_for_one("select", {in[0], axis, index})}));
    }
    Tensors stacked;
    for (std::size_t result = 0; result < of_each.front().size(); ++result) {
      Tensors rows;
      for (const Tensors& of_one : of_each) {
        rows.push_back(call_for_one("unsqueeze", {of_one[result], 0}));
      }
      stacked.push_back(call_for_one("cat", {rows, 0}));
    }
    return stacked;
  };
}

/// Runs a program on a new tensor 0, 1, 2, ... and returns the text of the results and the input.
std::string effects_of(const Program& program) {
  const AnyTensor x = ascending({2, 2, 2});
  Tensors seen = program({x});
  seen.push_back(x);
  return texts_of(seen);
}

/// Triples an element of the input in place, and returns the input's sum.
Tensors triple_one(const Tensors& in) {
  call("mul_.scalar", {element(in[0], 1), 3});
  return {call_for_one("sum", {in[0]})};
}

/// Calls `inner` with a view of the input, and writes a result of `inner`.
Program composed(const Program& inner) {
  return [inner](const Tensors& in) {
    const AnyTensor part = call_for_one("transpose", {in[0], 0, 2});
    Tensors out = inner({part});  // writes the region of in[0] that `part` sees
    call("add_", {out[1], call_for_one("ones", {{2, 2, 2}})});  // writes the same region again
    out.push_back(call_for_one("sum", {in[0]}));
    return out;
  };
}

/// Applies `batched` (vmapped() or looped()) to `in_place`, called with a view, and to a function
/// that captures a view.
Program of_parts(Program (*batched)(const Program&, std::int64_t)) {
  return [batched](const Tensors& in) {
    const AnyTensor part = call_for_one("transpose", {in[0], 0, 2});
    Tensors out = batched(in_place, 1)({part});
    const AnyTensor last = element(in[0], 1);
    const Program less_last = [&](const Tensors& row) {
      return Tensors{call_for_one("add", {row[0], call_for_one("neg", {last})})};
    };
    return Tensors{out[0], call_for_one("sum", {in[0]}), batched(less_last, 0)({in[0]})[0]};
  };
}

Program vmapped(const Program& f, std::int64_t axis) {
  return vmap(f, {axis});
}

class OuterTransforms : public testing::TestWithParam<Transform> {};

TEST_P(OuterTransforms, nested_transforms_have_the_effect_of_plain_loops_and_calls) {
  const std::pair<Program, Program> same[] = {
      {vmap(in_place), looped(in_place, 0)},
      {vmap(in_place, {1}), looped(in_place, 1)},
      {vmap(in_place, {2}), looped(in_place, 2)},
      {vmap(functionalize(in_place), {1}), looped(in_place, 1)},
      {functionalize(in_place), in_place},
      {functionalize(functionalize(in_place)), in_place},
      {composed(functionalize(in_place)), composed(in_place)},
      {vmap(vmap(triple_one), {1}), looped(looped(triple_one, 0), 1)},
      {of_parts(vmapped), of_parts(looped)},
  };
  for (const auto& [transformed, expected] : same) {
    EXPECT_EQ(effects_of(GetParam().apply(transformed)), effects_of(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, OuterTransforms,
                         testing::Values(Transform{"functionalize", without_views},
                                         Transform{"capture", by_graph},
                                         Transform{"on_opaque", on_opaque}),
                         name_of_transform);

TEST(VmapWithinThePass, a_returned_input_is_the_input_itself) {
  const AnyTensor x = ascending({2, 2, 2});
  EXPECT_EQ(functionalize(vmap(in_place))({x})[1], x);
}

TEST(VmapWithinThePass, an_input_that_is_passed_twice_is_written) {
  const AnyTensor x = ascending({2, 2});
  const Program add = vmap([](const Tensors& each) { return call("add_", {each[0], each[1]}); });
  functionalize([&](const Tensors& in) {
    call("select", {in[0], 0, 0});  // creates the Alias of in[0]
    return add({in[0], in[0]});
  })({x});
  EXPECT_EQ(texts_of({x}), "[[0. 2.]\n [4. 6.]]\n");
}

/// Expects that `program` is rejected and its input is not written, because a batch would miss a
/// write of the program.
void expect_stale_batch_refused(const Program& program) {
  const AnyTensor x = ascending({2, 2});
  const std::string text = complaint_of<DispatchError>([&] { program({x}); });
  EXPECT_TRUE(says(text, "vmap: the function wrote memory"));
  EXPECT_EQ(texts_of({x}), "[[0. 1.]\n [2. 3.]]\n");
}

TEST(VmapWithinThePass, a_write_to_the_memory_of_a_batch_is_rejected) {
  const Program write = [](const Tensors& in) {
    call("fill_", {in[1], 7});
    return call("neg", {in[0]});
  };
  const Program batched = vmap(write, {0, std::nullopt});
  const Program twice = [&](const Tensors& in) { return batched({in[0], in[0]}); };
  const Program with_row = [&](const Tensors& in) { return batched({in[0], element(in[0], 1)}); };
  const Program of_clone = [&](const Tensors& in) {
    return twice({call_for_one("clone", {in[0]})});
  };
  const Program captured_row = [](const Tensors& in) {
    const AnyTensor row = element(in[0], 1);
    return vmap([&](const Tensors& each) {
      call("fill_", {row, 7});
      return call("neg", {each[0]});
    })({in[0]});
  };
  for (const Program& stale : {twice, of_clone, with_row, captured_row}) {
    expect_stale_batch_refused(functionalize(stale));
  }
  expect_stale_batch_refused([&](const Tensors& in) {
    return functionalize(batched)({in[0], element(in[0], 1)});
  });
  expect_stale_batch_refused([&](const Tensors& in) { return capture(twice, in)(in); });
}

TEST(WithinThePass, programs_that_need_element_values_are_rejected) {
  const AnyTensor x = ascending({2});
  const CapturedProgram program = capture([](const Tensors& in) { return in; }, {x});
  EXPECT_THROW(functionalize([&](const Tensors& in) { return program(in); })({x}),
               FunctionalizeError);
  EXPECT_THROW(functionalize(on_opaque([](const Tensors& in) { return in; }))({x}),
               FunctionalizeError);
}

}  // namespace
}  // namespace byre::test
