// SPDX-License-Identifier: BSL-1.0
// Registration rejects a kernel whose parameters or results differ from its operator's schema.
#include "tensors.hpp"

namespace byre::test {
namespace {

/// The tensor type of a user's backend, and a result type whose number of tensors is unknown.
struct TensorOfUser {
  Tensor value;
};
struct ResultsOfUser {
  Tensors values;
};

}  // namespace
}  // namespace byre::test

template <>
struct byre::functional::Unboxed<byre::test::TensorOfUser> {
  static test::TensorOfUser from(Argument& argument) { return {to_cpu(argument.tensor())}; }
};
template <>
struct byre::functional::Boxed<byre::test::ResultsOfUser> {
  static Tensors from(test::ResultsOfUser results) { return std::move(results.values); }
};

namespace byre::test {
namespace {

/// Defines an operator with the schema "test_signature<number>" + `rest`.
Definition define_next(const std::string& rest) {
  static int number = 0;
  return define("test_signature" + std::to_string(++number) + rest);
}

/// Registers `function` for a new operator with this schema. Returns the error text without the
/// operator's name, the key and the schema. Checks that nothing was registered.
template <class Function>
std::string complaint_about(const std::string& rest_of_schema, Function function) {
  const Definition definition = define_next(rest_of_schema);
  const std::string& name = definition.op().name();
  const std::string text = complaint_of<DispatchError>([&] { definition.cpu(function); });
  EXPECT_EQ(definition.op().registered_keys(), KeySet());
  const std::string beginning = name + ": the kernel for cpu ";
  const std::string schema = ": " + name + rest_of_schema + ". ";
  const std::size_t at = text.find(schema);
  if (text.find(beginning) != 0 || at == std::string::npos) {
    return text;
  }
  return text.substr(beginning.size(), at - beginning.size()) + "; " +
         text.substr(at + schema.size());
}

TEST(KernelSignatures, wrong_numbers_or_types_of_parameters_are_rejected) {
  const std::string of_one = ", argument 1, as Tensor[], the schema has Tensor; Take ";
  EXPECT_EQ(complaint_about("(Tensor a, Scalar by) -> Tensor", [](const Tensor& a) { return a; }),
            "takes 1 argument, the schema has 2; Take one per parameter of the schema, in order.");
  EXPECT_EQ(
      complaint_about("(Tensor a, Scalar by) -> Tensor",
                      [](const Tensor& a, std::int64_t) { return a; }),
      "takes 'by', argument 2, as int, the schema has Scalar; Take Scalar, or change the schema.");
  EXPECT_EQ(complaint_about("(Tensor a) -> Tensor", [](const Tensors& all) { return all[0]; }),
            "takes 'a'" + of_one + "AnyTensor or the backend's tensor, or change the schema.");
  EXPECT_EQ(complaint_about("(Tensor a, int? end) -> Tensor",
                            [](const Tensor& a, std::int64_t) { return a; }),
            "takes 'end', argument 2, as int, the schema has int?; Take "
            "std::optional<std::int64_t>, or change the schema.");
}

/// Lists the C++ parameter types that a kernel may have for the schema type `in_schema`.
std::string kinds_taken_for(const std::string& in_schema) {
  std::string taken;
  const auto try_kind = [&](const char* kind, auto function) {
    try {
      define_next("(" + in_schema + " it) -> ()").cpu(function);
      taken += (taken.empty() ? "" : ", ") + std::string(kind);
    } catch (const DispatchError&) {
    }
  };
  try_kind("AnyTensor", [](const AnyTensor&) {});
  try_kind("AnyTensor&", [](AnyTensor&) {});
  try_kind("Tensor", [](const Tensor&) {});
  try_kind("TensorOfUser", [](const TensorOfUser&) {});
  try_kind("Tensors", [](const Tensors&) {});
  try_kind("int64_t", [](std::int64_t) {});
  try_kind("int64_t?", [](std::optional<std::int64_t>) {});
  try_kind("Dims", [](const Dims&) {});
  try_kind("Dims?", [](const std::optional<Dims>&) {});
  try_kind("Scalar", [](const Scalar&) {});
  try_kind("Scalar?", [](std::optional<Scalar>) {});
  try_kind("bool", [](bool) {});
  try_kind("bool?", [](std::optional<bool>) {});
  try_kind("DType", [](DType) {});
  try_kind("DType?", [](std::optional<DType>) {});
  return taken;
}

TEST(KernelSignatures, optional_parameters_require_std_optional) {
  const std::pair<const char*, const char*> taken[] = {
      {"Tensor", "AnyTensor, AnyTensor&, Tensor, TensorOfUser"},
      {"Tensor[]", "Tensors"},
      {"int", "int64_t, int64_t?, Scalar, Scalar?"},
      {"int[]", "Dims, Dims?"},
      {"Scalar", "Scalar, Scalar?"},
      {"bool", "bool, bool?"},
      {"DType", "DType, DType?"},
      {"int?", "int64_t?, Scalar?"},
      {"int[]?", "Dims?"},
  };
  for (const auto& [in_schema, kinds] : taken) {
    EXPECT_EQ(kinds_taken_for(in_schema), kinds) << in_schema;
  }
}

TEST(KernelSignatures, a_valid_kernel_is_accepted_after_an_invalid_kernel) {
  const Definition definition = define_next("(Tensor a, int by, int? end=none) -> Tensor");
  EXPECT_THROW(definition.cpu([](const Tensors& all) { return all; }), DispatchError);
  definition.cpu([](const TensorOfUser& a, const Scalar& by, std::optional<std::int64_t> end) {
    return add(a.value, Scalar(by.as<std::int64_t>() + end.value_or(100)));
  });
  EXPECT_EQ(text_of(call_for_one(definition.op(), {ascending(2), 3})), "[103. 104.]");
  EXPECT_EQ(text_of(call_for_one(definition.op(), {ascending(2), 3, 4})), "[7. 8.]");
}

TEST(KernelSignatures, a_wrong_number_of_results_is_rejected) {
  const auto nothing = [](const Tensor&) {};
  const auto one = [](const Tensor& a) { return a; };
  const auto expect = [](const std::string& complaint, const std::string& returns,
                         const std::string& says, const std::string& instead) {
    EXPECT_EQ(complaint,
              "returns " + returns + ", the schema has " + says + "; Return " + instead + ".");
  };
  const std::string one_of_own = "AnyTensor or the backend's type";
  const std::string some_of_own = "Tensors or the backend's type";
  expect(complaint_about("(Tensor a) -> Tensor", nothing), "no tensor", "one tensor", one_of_own);
  expect(complaint_about("(Tensor a) -> (Tensor, Tensor)", nothing), "no tensor", "2 tensors",
         some_of_own);
  expect(complaint_about("(Tensor a) -> Tensor[]", nothing), "no tensor", "a list of tensors",
         some_of_own);
  expect(complaint_about("(Tensor(a!) a) -> (Tensor(a!), Tensor)", nothing), "no tensor",
         "one new tensor", one_of_own);
  expect(complaint_about("(Tensor(a!) self) -> Tensor(a!)", one), "one tensor", "no new tensor",
         "void");
  expect(complaint_about("(Tensor a) -> ()", one), "one tensor", "no tensor", "void");
  expect(complaint_about("(Tensor a) -> (Tensor, Tensor)", one), "one tensor", "2 tensors",
         some_of_own);
  expect(complaint_about("(Tensor a) -> Tensor[]", [](const AnyTensor& a) { return a; }),
         "one tensor", "a list of tensors", some_of_own);
}

TEST(KernelSignatures, a_variable_number_of_results_is_checked_by_the_call) {
  const auto called = [](const char* schema, std::size_t count) {
    const Definition definition = define_next(schema);
    definition.cpu([count](const AnyTensor& a) { return ResultsOfUser{Tensors(count, a)}; });
    return texts_of(call(definition.op(), {ascending(2)}));
  };
  EXPECT_EQ(called("(Tensor a) -> Tensor", 1), "[0. 1.]\n");
  EXPECT_EQ(called("(Tensor a) -> Tensor[]", 2), "[0. 1.]\n[0. 1.]\n");
  EXPECT_TRUE(
      says(complaint_of<DispatchError>([&] { called("(Tensor a) -> (Tensor, Tensor)", 1); }),
           "returned 1 new tensors, the schema has 2:"));
  EXPECT_TRUE(says(complaint_of<DispatchError>([&] { called("(Tensor a) -> Tensor", 2); }),
                   "returned 2 new tensors, the schema has 1:"));
}

TEST(KernelSignatures, signatures_are_checked_for_every_key) {
  const Definition definition = define_next("(Tensor a) -> Tensor");
  const auto misfit = boxed([](const AnyTensor& a, bool) { return a; });
  EXPECT_TRUE(says(complaint_of<DispatchError>([&] { definition.kernel(Key::batched, misfit); }),
                   ": the kernel for batched takes 2 arguments"));
  const std::string composite = complaint_of<DispatchError>([&] { definition.composite(misfit); });
  EXPECT_TRUE(says(composite, ": the composite kernel takes 2 arguments"));
  EXPECT_EQ(definition.op().kernel(Key::batched), nullptr);
  EXPECT_EQ(definition.op().composite(), nullptr);
  definition.composite(boxed([](const AnyTensor& a) { return call("neg", {a}); }));
  EXPECT_EQ(text_of(call_for_one(definition.op(), {ascending(2)})), "[-0. -1.]");
}

TEST(Arguments, the_error_of_a_misread_argument_names_value_and_types) {
  struct Misread {
    const char* in_schema;
    Argument given;
    void (*read)(Argument& it);
    const char* said;
  };
  const Misread all[] = {
      {"Scalar", 1.5, [](Argument& it) { it.integer(); }, "Scalar 1.5 as an int"},
      {"int", 2, [](Argument& it) { it.tensor(); }, "int 2 as a Tensor"},
      {"Tensor", ascending(2), [](Argument& it) { it.tensors(); }, "Tensor f32[2] as a Tensor[]"},
      {"int?", NoValue(), [](Argument& it) { it.dims(); }, "none as an int[]"},
      {"bool", true, [](Argument& it) { it.scalar(); }, "bool true as a Scalar"},
      {"int[]", Dims{2}, [](Argument& it) { it.flag(); }, "int[] [2] as a bool"},
      {"bool", true, [](Argument& it) { it.dtype(); }, "bool true as a DType"},
      {"DType", DType::f32, [](Argument& it) { it.integer_or(1); }, "DType f32 as an int"},
  };
  for (const Misread& one : all) {
    const Operator& op = define_next("(" + std::string(one.in_schema) + " it) -> ()")
                             .kernel(Key::cpu,
                                     [&one](const Call& call) {
                                       one.read(call.arguments[0]);
                                       return Tensors();
                                     })
                             .op();
    EXPECT_EQ(complaint_of<DispatchError>([&] { call(op, {one.given}); }),
              op.name() + ": kernel for cpu: cannot read the argument " + one.said +
                  ". Read each argument by its type in the schema, or test is_none() and get<T>() "
                  "first.");
  }
}

}  // namespace
}  // namespace byre::test
