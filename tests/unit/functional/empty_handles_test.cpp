// SPDX-License-Identifier: BSL-1.0
/// Empty handles and empty functions: every function rejects them as arguments, and every caller of
/// a program or kernel rejects them as results. A rejection changes nothing.
#include "tensors.hpp"

namespace byre::test {
namespace {

const Program same = [](const Tensors& inputs) { return inputs; };

Tensors none_returned(const Tensors& inputs) {
  return {inputs[0], AnyTensor()};
}
Tensors written_and_none(const Tensors& inputs) {
  call("add_.scalar", {inputs[0], 1});
  return none_returned(inputs);
}

Lowering to_itself() {
  return {Key::cpu, [](const Tensor& x) { return from_cpu(x); },
          [](const AnyTensor& x) { return to_cpu(x); }};
}

/// `name` is the name of the function in error messages. If two entries have the same name, one of
/// them is nested in functionalize().
const Transform transforms[] = {
    {"functionalize", [](const Program& f) { return functionalize(f); }},
    {"functionalize_on", [](const Program& f) { return functionalize_on(to_itself(), f); }},
    {"capture", by_graph},
    {"functionalize", [](const Program& f) { return functionalize(functionalize(f)); }},
    {"vmap",
     [](const Program& f) {
       return functionalize(vmap(f, {0, std::nullopt}));
     }},
    {"vmap",
     [](const Program& f) {
       return vmap(f, {0, std::nullopt});
     }},
};

TEST(EmptyHandles, an_empty_input_of_a_program_is_rejected) {
  for (const Transform& transform : transforms) {
    const std::string text = complaint_of<ArgumentError>([&] {
      transform.apply(same)({ascending(2), AnyTensor()});
    });
    EXPECT_TRUE(says(text, ": number 1 of the ", "s, counted from 0, is an empty handle"))
        << transform.name;
  }
}

TEST(EmptyHandles, an_empty_result_is_rejected_before_inputs_are_written) {
  for (const Transform& transform : transforms) {
    const bool takes_writes = &transform != std::end(transforms) - 1;  // all except vmap() alone
    const AnyTensor x = ascending(2);
    const std::string text = complaint_of<ArgumentError>([&] {
      transform.apply(takes_writes ? written_and_none : none_returned)({x, ascending(2)});
    });
    EXPECT_TRUE(says(text, ": number 1 of the returned tensors, counted from 0")) << transform.name;
    EXPECT_EQ(text_of(x), "[0. 1.]") << transform.name;
  }
}

TEST(EmptyHandles, an_empty_program_is_rejected) {
  for (const std::function<void()>& act : std::initializer_list<std::function<void()>>{
           [] { functionalize({}); }, [] { functionalize_on(to_itself(), {}); }, [] { vmap({}); },
           [] { capture({}, {}); }}) {
    EXPECT_TRUE(says(complaint_of<ArgumentError>(act), ": the program is empty"));
  }
}

TEST(EmptyHandles, an_empty_kernel_rule_or_lowering_is_rejected) {
  const Definition none = define("test_no_function(Tensor(a) a) -> Tensor(a)");
  const auto refused = [](const auto& registering, const char* what) {
    EXPECT_TRUE(
        says(complaint_of<DispatchError>(registering), what, "is empty, like std::function()"));
  };
  refused([&] { none.kernel(Key::cpu, Kernel()); }, "test_no_function: the kernel for cpu");
  refused([&] { none.composite(Kernel()); }, "the composite kernel");
  refused([&] { none.meta({}); }, "the meta rule");
  refused([&] { none.view({}); }, "the view rule");
  refused([] { set_fallback(Key::cpu, {}); }, "cpu: the fallback");
  EXPECT_THROW(call("test_no_function", {ascending(2)}), DispatchError);
  for (const bool has_lift : {false, true}) {
    Lowering lowering = to_itself();
    has_lift ? void(lowering.lower = nullptr) : void(lowering.lift = nullptr);
    EXPECT_TRUE(says(complaint_of<ArgumentError>([&] { functionalize_on(lowering, same); }),
                     has_lift ? "lower is empty" : "lift is empty"));
  }
}

TEST(EmptyHandles, functions_that_take_tensors_reject_empty_handles) {
  const CapturedProgram captured = capture(same, {ascending(2)});
  EXPECT_TRUE(says(complaint_of<ArgumentError>([&] { captured({AnyTensor()}); }), "number 0"));
  EXPECT_TRUE(says(complaint_of<ArgumentError>([&] { execute(captured.graph, {AnyTensor()}); }),
                   "execute: number 0 of the inputs"));
  EXPECT_TRUE(says(complaint_of<ArgumentError>([] { to_functional({}); }), "to_functional: "));
  EXPECT_TRUE(says(complaint_of<ArgumentError>([] { from_cpu({}); }), "from_cpu: "));
  EXPECT_THROW(to_cpu({}), DeviceError);
  EXPECT_THROW(Recording::of({}), DeviceError);
  const Recording recording;
  EXPECT_THROW(recording.constant({}), ArgumentError);
  EXPECT_THROW(recording.capture({AnyTensor()}), GraphError);
  Arguments arguments{ascending(2), AnyTensor()};
  EXPECT_TRUE(says(complaint_of<ArgumentError>([&] { keys_of(arguments); }), "number 1"));
  EXPECT_TRUE(says(complaint_of<ArgumentError>([&] { dispatch(find("add"), arguments); }),
                   "number 1 of its arguments"));
  EXPECT_TRUE(says(complaint_of<ArgumentError>([&] {
                     call("cat", {Tensors{ascending(2), {}}});
                   }),
                   "not Tensor[] of 2 with no tensor at index 1"));
  EXPECT_FALSE(from_functional({}));
  EXPECT_FALSE(share_memory({}, {}));
  EXPECT_FALSE(share_memory(ascending(2), {}));
  EXPECT_EQ(describe(AnyTensor()), "no tensor");
}

TEST(EmptyHandles, an_empty_result_of_a_kernel_or_lowering_is_rejected) {
  define("test_none(Tensor a) -> Tensor").kernel(Key::cpu, [](const Call&) {
    return Tensors{AnyTensor()};
  });
  EXPECT_TRUE(says(complaint_of<DispatchError>([] { call("test_none", {ascending(2)}); }),
                   "test_none: the kernel for cpu returned an empty handle"));
  define("test_no_memory(Tensor a) -> Tensor").cpu([](const Tensor&) { return Tensor(); });
  EXPECT_THROW(call("test_no_memory", {ascending(2)}), ArgumentError);
  Lowering lifts_none = to_itself();
  lifts_none.lift = [](const Tensor&) { return AnyTensor(); };
  EXPECT_TRUE(
      says(complaint_of<ArgumentError>([&] { functionalize_on(lifts_none, same)({ascending(2)}); }),
           "number 0 of the lifted tensors"));
}

}  // namespace
}  // namespace byre::test
