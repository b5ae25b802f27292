// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <cstdlib>

#include "tensors.hpp"

namespace byre::test {
namespace {

TEST(Calls, out_variants_write_and_return_out) {
  const AnyTensor x = ascending(4);
  const AnyTensor out = call_for_one("zeros", {{0}});
  EXPECT_EQ(call_for_one("add.out", {x, x, out}), out);
  EXPECT_EQ(text_of(out), "[0. 2. 4. 6.]");
  EXPECT_EQ(call_for_one("cat.out", {Tensors{ascending(2), ascending(2)}, 0, out}), out);
  EXPECT_EQ(text_of(out), "[0. 1. 0. 1.]");
  EXPECT_THROW(call("add.out", {x, x, ascending(3)}), ShapeError);
  EXPECT_THROW(call("add.out", {x, x, call_for_one("arange", {4})}), DTypeError);
  EXPECT_EQ(call_for_one("add_.scalar", {x, 1}), x) << "the written tensor is returned";
}

TEST(Calls, resize_can_shrink_a_tensor_or_grow_it_beyond_its_storage) {
  const AnyTensor x = ascending(4);
  call("resize_", {x, {2}});
  EXPECT_EQ(text_of(x), "[0. 1.]");
  call("resize_", {x, {6}});
  EXPECT_EQ(text_of(x), "[0. 1. 0. 0. 0. 0.]");
  const AnyTensor view = call_for_one("alias", {x});
  EXPECT_THROW(call("resize_", {x, {7}}), StateError);
  const AnyTensor part = call_for_one("slice", {view, 0, 1, 3});
  call("resize_", {part, {3}});
  EXPECT_EQ(text_of(part), "[1. 0. 0.]");
  const Tensor held = to_cpu(ascending(2));
  EXPECT_THROW(call("resize_", {from_cpu(held), {7}}), StateError);
  const AnyTensor turned = call_for_one("t", {ascending({2, 3})});
  EXPECT_THROW(call("resize_", {turned, {2}}), ShapeError);
}

TEST(Calls, set_makes_the_tensor_an_alias_of_its_source) {
  const AnyTensor x = ascending(2);
  const AnyTensor y = ascending({2, 2});
  call("set_", {x, y});
  EXPECT_EQ(to_cpu(y).handle_count(), 1U);
  EXPECT_TRUE(to_cpu(x).aliases(to_cpu(y)));
  const AnyTensor prepared = x.impl().to_rebind(y);
  EXPECT_EQ(to_cpu(y).handle_count(), 1U);
}

TEST(Errors, an_unknown_name_lists_similar_operators) {
  EXPECT_TRUE(says(complaint_of<DispatchError>([] { call("transpse", {ascending(2)}); }),
                   "unknown operator 'transpse', ",
                   " are registered; similar: transpose, transpose_. "));
  EXPECT_TRUE(says(complaint_of([] { find("squeeze.the_dimension"); }), "squeeze.axis"));
}

TEST(Errors, invalid_argument_errors_name_operator_parameter_and_schema) {
  const std::string few = complaint_of([] { call("add", {ascending(2)}); });
  EXPECT_TRUE(says(few, "add: 'b', argument 2, is missing"));
  const std::string many = complaint_of([] { call("neg", {ascending(2), 1, 2}); });
  EXPECT_TRUE(says(many, "neg: 3 arguments were given, at most 1"));
  const std::string type = complaint_of([] { call("select", {ascending(2), 0, 1.5}); });
  EXPECT_TRUE(says(type, "'index', argument 3, must be int, not Scalar 1.5",
                   "select(Tensor(a) self, Axis axis, int index) -> Tensor(a)"));
  EXPECT_THROW(call("neg", {AnyTensor()}), ArgumentError);
  EXPECT_THROW(call("cat", {Tensors{AnyTensor()}}), ArgumentError);
  EXPECT_THROW(call("select", {ascending(2), Argument(), 0}), ArgumentError);
  EXPECT_THROW(call_for_one("split", {ascending(5), 2}), ArgumentError);
  EXPECT_TRUE(says(complaint_of([] {
                     call("cat", {Dims(), 0});
                   }),
                   "cat: the list of tensors is empty"));
}

TEST(Errors, a_missing_kernel_error_names_the_key_and_registered_keys) {
  const Key bare = add_backend({.name = "bare"});
  const IncludeKeys on_bare(bare);
  const std::string text = complaint_of([] { call("neg", {ascending(2)}); });
  EXPECT_TRUE(says(text, "arange has no kernel or fallback for bare", "Registered: cpu"));
  EXPECT_THROW(add_backend({.name = "bare"}), InvalidArgument);
}

/// Adds backends until one is rejected.
[[noreturn]] void add_backends() {
  for (int number = 0; number < 1000; ++number) {
    try {
      add_backend({.name = "test " + std::to_string(number)});
    } catch (const InvalidArgument& error) {
      std::fputs(error.what(), stderr);
      std::exit(0);
    }
  }
  std::exit(1);
}

TEST(BackendsDeathTest, a_backend_is_rejected_if_all_keys_are_taken) {
  EXPECT_EXIT(add_backends(), testing::ExitedWithCode(0), "all 28 keys are taken");
}

TEST(Definitions, user_operators_are_called_like_builtin_operators) {
  define("test_scale(Tensor a, Scalar by=2) -> Tensor").cpu([](const Tensor& a, const Scalar& by) {
    return mul(a, by);
  });
  EXPECT_EQ(text_of(call_for_one("test_scale", {ascending(3)})), "[0. 2. 4.]");
  EXPECT_THROW(define("test_scale(Tensor a) -> Tensor"), DispatchError);
  EXPECT_THROW(extend("test_scale").cpu([](const Tensor& a, const Scalar&) { return a; }),
               DispatchError);
  EXPECT_THROW(extend("test_scale").view(nullptr), DispatchError);
  EXPECT_THROW(set_fallback(Key::cpu, [](const Call&) { return Tensors(); }), DispatchError);
}

TEST(Definitions, a_view_operator_requires_only_a_view_rule) {
  const Definition evens = define("test_evens(Tensor(a) self) -> Tensor(a)");
  EXPECT_THROW(call("test_evens", {to_functional(ascending(2))}), DispatchError)
      << "the view rule is missing";
  evens.view([](const ViewGeometry& self, std::span<const Argument>) {
    return std::vector{self.with(views::slice(self.layout, 0, 0, views::to_the_end, 2))};
  });
  const AnyTensor x = ascending(4);
  call("zero_", {call_for_one("test_evens", {x})});
  EXPECT_EQ(text_of(x), "[0. 1. 0. 3.]");
}

TEST(Definitions, a_reduced_operand_may_overlap_the_written_tensor) {
  define("test_add_sum_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
      .cpu([](Tensor& self, const Tensor& other) { add_(self, sum(other)); });
  for (const bool is_under_pass : {false, true}) {
    const AnyTensor x = is_under_pass ? to_functional(ascending(4)) : ascending(4);
    call("test_add_sum_", {call_for_one("slice", {x, 0, 1, 3}), x});
    EXPECT_EQ(text_of_value(x), "[0. 7. 8. 3.]");
  }
}

TEST(Tags, only_pure_operators_with_one_result_accept_tags) {
  EXPECT_TRUE(find("flip").has(Tag::axis_shift));
  EXPECT_FALSE(find("flip").has(Tag::pointwise));
  EXPECT_THROW(extend("flip").tag(Tag::axis_shift), DispatchError) << "each tag is registered once";
  for (const char* const schema :
       {"test_tag_view(Tensor(a) a) -> Tensor(a)", "test_tag_write_(Tensor(a!) a) -> Tensor(a!)",
        "test_tag_list(Tensor a) -> Tensor[]", "test_tag_two(Tensor a) -> (Tensor, Tensor)"}) {
    EXPECT_THROW(define(schema).tag(Tag::pointwise), DispatchError) << schema;
  }
}

TEST(Guards, guards_and_scopes_restore_the_state_of_the_thread) {
  EXPECT_TRUE(thread_keys().included.empty());
  {
    const IncludeKeys graph(Key::graph);
    const ExcludeKeys functionalize(Key::functionalize);
    EXPECT_TRUE(thread_keys().included.has(Key::graph));
    EXPECT_TRUE(thread_keys().excluded.has(Key::functionalize));
  }
  EXPECT_EQ(thread_keys().included, KeySet());
  EXPECT_EQ(thread_keys().excluded, KeySet());
  const FunctionalizeOptions before = functionalize_options();
  { const FunctionalizeOptionsScope other({!before.reapply_views, ViewPaths::strides}); }
  EXPECT_EQ(functionalize_options().reapply_views, before.reapply_views);
  EXPECT_EQ(functionalize_options().paths, before.paths);
  vmap([](const Tensors& in) { return in; })({ascending(2)});
  EXPECT_EQ(thread_keys().batch_level, 0U);
}

TEST(Meta, meta_rules_reject_the_operands_that_kernels_reject) {
  const AnyTensor truth = call_for_one("ge.scalar", {ascending(2), 1});
  const AnyTensor row = call_for_one("view", {ascending(2), {1, 2}});
  const std::pair<const char*, Arguments> calls[] = {
      {"sub", {truth, truth}},
      {"add", {ascending(2), ascending(3)}},
      {"matmul", {ascending(2), ascending(3)}},
      {"cat", {Tensors{}, 0}},
      {"cat", {Tensors{ascending(2), row}, 0}},
      {"cat", {Tensors{ascending({2, 2}), ascending({1, 3})}, 0}},
      {"arange", {-1}},
      {"full", {{2}, 300, DType::u8}},
      {"sum.axes", {ascending(2), {0, 0}, false}},
      {"select_scatter", {ascending(2), ascending(2), 0, 1}},
      {"slice_scatter", {ascending(4), ascending(1), 0, 0, 2, 1}},
      {"as_strided_scatter", {ascending(2), ascending(2), {2}, {0}, 0}},
  };
  for (const auto& [name, arguments] : calls) {
    const Operator& op = find(name);
    Arguments checked = checked_arguments(op.schema(), arguments);
    EXPECT_THROW(dispatch(op, checked), Error) << name;
    EXPECT_THROW((*op.meta())({op, checked}), Error) << name;
  }
}

}  // namespace
}  // namespace byre::test
