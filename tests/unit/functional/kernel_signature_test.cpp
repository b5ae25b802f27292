// SPDX-License-Identifier: BSL-1.0
// A kernel that takes or returns other than its operator's schema says is refused where it is
// registered.
#include <algorithm>

#include "tensors.hpp"

namespace byre::test {
namespace {

/// A backend's own tensor, and results of its own, which say nothing of themselves.
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

/// A new operator "test_signature<number>" of the rest of a schema.
Definition define_next(const std::string& rest) {
  static int number = 0;
  return define("test_signature" + std::to_string(++number) + rest);
}

/// What is said when `function` is to compute an operator of that schema, without what says of
/// which: the name, the key and the schema. The operator is as before.
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

TEST(KernelSignatures, of_another_number_of_parameters_are_refused) {
  EXPECT_EQ(complaint_about("(Tensor a, Scalar by) -> Tensor", [](const Tensor& a) { return a; }),
            "takes 1 argument, and the schema has 2; Have it take one for each of the schema's, in "
            "their order.");
  EXPECT_EQ(complaint_about("() -> Tensor", [](const Tensor& a) { return a; }),
            "takes 1 argument, and the schema has 0; Have it take one for each of the schema's, in "
            "their order.");
}

TEST(KernelSignatures, of_another_kind_of_parameter_are_refused) {
  EXPECT_EQ(complaint_about("(Tensor a, Scalar by) -> Tensor",
                            [](const Tensor& a, std::int64_t) { return a; }),
            "takes 'by', argument 2, as int, and the schema says Scalar; Have it take Scalar, or "
            "define the operator with what it takes.");
  EXPECT_EQ(
      complaint_about("(Tensor a) -> Tensor", [](const Tensors& all) { return all[0]; }),
      "takes 'a', argument 1, as Tensor[], and the schema says Tensor; Have it take AnyTensor, "
      "or the backend's own tensor, or define the operator with what it takes.");
}

/// Which of all the kinds of parameters a kernel may have for what `in_schema` names.
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

TEST(KernelSignatures, fit_each_type_of_a_schema_by_what_can_hold_it) {
  EXPECT_EQ(kinds_taken_for("Tensor"), "AnyTensor, AnyTensor&, Tensor, TensorOfUser");
  EXPECT_EQ(kinds_taken_for("Tensor[]"), "Tensors");
  EXPECT_EQ(kinds_taken_for("int"), "int64_t, int64_t?, Scalar, Scalar?");
  EXPECT_EQ(kinds_taken_for("int[]"), "Dims, Dims?");
  EXPECT_EQ(kinds_taken_for("Scalar"), "Scalar, Scalar?");
  EXPECT_EQ(kinds_taken_for("bool"), "bool, bool?");
  EXPECT_EQ(kinds_taken_for("DType"), "DType, DType?");
}

TEST(KernelSignatures, that_take_no_none_are_refused_where_it_may_be_given) {
  EXPECT_EQ(kinds_taken_for("int?"), "int64_t?, Scalar?");
  EXPECT_EQ(kinds_taken_for("int[]?"), "Dims?");
  EXPECT_EQ(complaint_about("(Tensor a, int? end) -> Tensor",
                            [](const Tensor& a, std::int64_t) { return a; }),
            "takes 'end', argument 2, as int, and the schema says int?; Have it take "
            "std::optional<std::int64_t>, or define the operator with what it takes.");
}

TEST(KernelSignatures, that_fit_are_given_what_they_take) {
  const Operator& op =
      define_next("(Tensor a, int by, int? end=none) -> Tensor")
          .cpu([](const TensorOfUser& a, const Scalar& by, std::optional<std::int64_t> end) {
            return add(a.value, Scalar(by.as<std::int64_t>() + end.value_or(100)));
          })
          .op();
  EXPECT_EQ(text_of(call_for_one(op, {counted(2), 3})), "[103. 104.]");
  EXPECT_EQ(text_of(call_for_one(op, {counted(2), 3, 4})), "[7. 8.]");
}

TEST(KernelSignatures, that_return_nothing_are_refused_where_something_is_new) {
  const auto nothing = [](const Tensor&) {};
  EXPECT_EQ(complaint_about("(Tensor a) -> Tensor", nothing),
            "returns none, and the schema says one tensor; Have it return AnyTensor, or the "
            "backend's own.");
  EXPECT_EQ(complaint_about("(Tensor a) -> (Tensor, Tensor)", nothing),
            "returns none, and the schema says 2 tensors; Have it return Tensors, or the backend's "
            "own.");
  EXPECT_EQ(complaint_about("(Tensor a) -> Tensor[]", nothing),
            "returns none, and the schema says a list of tensors; Have it return Tensors, or the "
            "backend's own.");
  EXPECT_EQ(complaint_about("(Tensor(a!) a) -> (Tensor(a!), Tensor)", nothing),
            "returns none, and the schema says one tensor beside what is written; Have it return "
            "AnyTensor, or the backend's own.");
}

TEST(KernelSignatures, that_return_one_are_refused_where_none_or_some_are_new) {
  const auto one = [](const Tensor& a) { return a; };
  EXPECT_EQ(complaint_about("(Tensor(a!) self) -> Tensor(a!)", one),
            "returns one tensor, and the schema says none beside what is written; Have it return "
            "void.");
  EXPECT_EQ(complaint_about("(Tensor a) -> ()", one),
            "returns one tensor, and the schema says none; Have it return void.");
  EXPECT_EQ(complaint_about("(Tensor a) -> (Tensor, Tensor)", one),
            "returns one tensor, and the schema says 2 tensors; Have it return Tensors, or the "
            "backend's own.");
  EXPECT_EQ(complaint_about("(Tensor a) -> Tensor[]", [](const AnyTensor& a) { return a; }),
            "returns one tensor, and the schema says a list of tensors; Have it return Tensors, or "
            "the backend's own.");
}

TEST(KernelSignatures, that_return_any_number_are_counted_when_called) {
  const Definition one = define_next("(Tensor a) -> Tensor");
  one.cpu([](const AnyTensor& a) { return ResultsOfUser{{a}}; });
  EXPECT_EQ(text_of(call_for_one(one.op(), {counted(2)})), "[0. 1.]");
  const Definition two = define_next("(Tensor a) -> (Tensor, Tensor)");
  two.cpu([](const AnyTensor& a) { return Tensors{a}; });
  EXPECT_TRUE(says(complaint_of<DispatchError>([&] { call(two.op(), {counted(2)}); }),
                   "returned 1 tensors, and the schema says 2"));
  const Definition many = define_next("(Tensor a) -> Tensor");
  many.cpu([](const AnyTensor& a) { return Tensors{a, a}; });
  EXPECT_TRUE(says(complaint_of<DispatchError>([&] { call(many.op(), {counted(2)}); }),
                   "returned 2 tensors, and the schema says 1"));
}

TEST(KernelSignatures, that_are_refused_leave_room_for_one_that_fits) {
  const Definition definition = define_next("(Tensor a) -> Tensor");
  EXPECT_THROW(definition.cpu([](const Tensors& all) { return all; }), DispatchError);
  definition.cpu([](const Tensor& a) { return neg(a); });
  EXPECT_EQ(text_of(call_for_one(definition.op(), {counted(2)})), "[-0. -1.]");
}

TEST(KernelSignatures, are_held_against_the_schema_for_every_key) {
  const Definition definition = define_next("(Tensor a) -> Tensor");
  const auto misfit = boxed([](const AnyTensor& a, bool) { return a; });
  EXPECT_TRUE(says(complaint_of<DispatchError>([&] { definition.kernel(Key::batched, misfit); }),
                   ": the kernel for batched takes 2 arguments"));
  const std::string composite = complaint_of<DispatchError>([&] { definition.composite(misfit); });
  EXPECT_TRUE(says(composite, ": the composite kernel takes 2 arguments"));
  EXPECT_EQ(definition.op().kernel(Key::batched), nullptr);
  EXPECT_EQ(definition.op().composite(), nullptr);
  definition.composite(boxed([](const AnyTensor& a) { return call("neg", {a}); }));
  EXPECT_EQ(text_of(call_for_one(definition.op(), {counted(2)})), "[-0. -1.]");
}

/// What a kernel that reads its only argument by `read` says, of an operator that takes
/// `in_schema`.
template <class Read>
std::string said_by_reading(const std::string& in_schema, Argument argument, const Read& read) {
  const Operator& op = define_next("(" + in_schema + " it) -> ()")
                           .kernel(Key::cpu,
                                   [read](const Call& call) {
                                     read(call.arguments[0]);
                                     return Tensors();
                                   })
                           .op();
  const std::string said = complaint_of<DispatchError>([&] { call(op, {std::move(argument)}); });
  const std::string where = op.name() + ", in its kernel for cpu: ";
  EXPECT_TRUE(said.starts_with(where)) << said;
  return said.substr(std::min(where.size(), said.size()));
}

TEST(Arguments, that_are_read_as_another_type_are_refused_by_what_they_are) {
  EXPECT_EQ(said_by_reading("Scalar", 1.5, [](const Argument& it) { it.integer(); }),
            "an argument that is Scalar 1.5 was read as an int. Have the kernel read each as the "
            "operator's schema says, or ask is_none() and get<T>() what it holds.");
  const auto what_is_read = [](const std::string& text) {
    return text.substr(0, text.find(". Have"));
  };
  EXPECT_EQ(what_is_read(said_by_reading("int", 2, [](Argument& it) { it.tensor(); })),
            "an argument that is int 2 was read as a Tensor");
  EXPECT_EQ(
      what_is_read(said_by_reading("Tensor", counted(2), [](const Argument& it) { it.tensors(); })),
      "an argument that is Tensor f32[2] was read as a Tensor[]");
  EXPECT_EQ(what_is_read(said_by_reading("int?", NoValue(), [](const Argument& it) { it.dims(); })),
            "an argument that is none was read as an int[]");
  EXPECT_EQ(what_is_read(said_by_reading("bool", true, [](const Argument& it) { it.scalar(); })),
            "an argument that is bool true was read as a Scalar");
  EXPECT_EQ(what_is_read(said_by_reading("int[]", Dims{2}, [](const Argument& it) { it.flag(); })),
            "an argument that is int[] [2] was read as a bool");
  EXPECT_EQ(what_is_read(said_by_reading("bool", true, [](const Argument& it) { it.dtype(); })),
            "an argument that is bool true was read as a DType");
  EXPECT_EQ(what_is_read(
                said_by_reading("DType", DType::f32, [](const Argument& it) { it.integer_or(1); })),
            "an argument that is DType f32 was read as an int");
}

}  // namespace
}  // namespace byre::test
