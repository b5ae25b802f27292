// SPDX-License-Identifier: BSL-1.0
// Cases of operators: their text, registration and calls.
#include <byre/functional.hpp>
#include <byre/observe/recording.hpp>

#include <array>

#include "cases.hpp"

namespace byre::test {
namespace operator_table {

using namespace functional;
using functional::call;
using functional::call_for_one;

AnyTensor deep() {
  return from_cpu(deep_tensor());
}
std::string described(const AnyTensor& tensor) {
  return tensor ? to_string(to_cpu(tensor)) : "no tensor";
}

/// A case: `Function` maps a tensor to a tensor.
template <class Function>
Case tensor_call_case(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            AnyTensor tensor = deep();
            AnyTensor result;
            attempt([&] { result = Function()(tensor); },
                    [&] { return described(tensor) + described(result); });
          }};
}

/// Values to move from: one for the failing attempt and one for the retry.
template <class Value>
class Supply {
 public:
  explicit Supply(const Value& value) : values_{value, value} {}
  Value take() { return std::move(values_.at(next_++)); }

 private:
  std::array<Value, 2> values_;
  std::size_t next_ = 0;
};
template <class Value>
std::string described(const Supply<Value>&) {
  return "";
}

void dispatch_on(Attempt& attempt) {
  const Operator& op = find("add_");
  const AnyTensor x = deep();
  Arguments arguments{x, x};
  attempt([&] { (void)dispatch(op, arguments); }, [&] { return described(x); });
}

void find_metas(Attempt& attempt) {
  Arguments arguments{deep(), deep()};
  std::string text;
  attempt(
      [&] {
        text = byre::to_string(meta_of_results({find("mul"), arguments}).at(0).sizes);
      },
      [&] { return text; });
}

// ---- registrations are permanent, so each attempt uses a new name

std::string new_name(const Attempt& attempt) {
  return "an_operator_of_a_long_name_" + std::to_string(attempt.number());
}

void define_one(Attempt& attempt) {
  const std::string name = new_name(attempt);
  const std::string schema = name + "(Tensor a) -> Tensor";
  attempt([&] { (void)define(schema); },
          [&] { return std::string(find_if_any(name) == nullptr ? "none" : "one"); });
}

void define_by_schema(Attempt& attempt) {
  Supply schemas(parse_schema(new_name(attempt) + "(Tensor a) -> Tensor"));
  attempt([&] { (void)define(schemas.take()); });
}

/// A case: `Set` sets one property of an operator; `IsSet` tells whether the operator has it.
template <class Set, class IsSet>
Case definition_case(const char* name, Set, IsSet) {
  return {name, [](Attempt& attempt) {
            const Definition one = define(new_name(attempt) + "(Tensor a) -> Tensor");
            attempt([&] { Set()(one); },
                    [&] { return std::string(IsSet()(one.op()) ? "set" : "not set"); });
          }};
}

Tensors first_argument(const Call& call) {
  return {call.arguments[0].tensor()};
}

constexpr auto has_cpu = [](const Operator& op) { return op.kernel(Key::cpu) != nullptr; };

void define_view(Attempt& attempt) {
  const Definition one = define(new_name(attempt) + "(Tensor(a) a) -> Tensor(a)");
  attempt(
      [&] {
        one.view(
            [](const ViewGeometry& self, std::span<const Argument>) { return std::vector{self}; });
      },
      [&] { return std::string(one.op().view() == nullptr ? "none" : "one"); });
}

void add_key(Attempt& attempt) {
  const std::string name = "k" + std::to_string(attempt.number());  // needs no allocation
  attempt([&] { (void)add_backend({.name = name}); });
}

void set_one_fallback(Attempt& attempt) {
  const Key key = add_backend({.name = "f" + std::to_string(attempt.number())});
  attempt([&] { set_fallback(key, first_argument); },
          [&] { return std::string(fallback(key) == nullptr ? "none" : "one"); });
}

const Case cases[] = {
    {"functional::define", define_one},
    {"functional::define", define_by_schema},
    call_case("functional::extend", [] { return extend("add").op().name(); }),
    call_case("functional::find", [] { return find("add").name(); }),
    refusal_case<DispatchError>("functional::find", [] { (void)find("ad"); }),
    call_case("functional::find_if_any", [] { return find_if_any("add")->name(); }),
    call_case("functional::operators", [] { return operators().front()->name(); }),
    definition_case(
        "functional::Definition::kernel",
        [](const Definition& one) { one.kernel(Key::cpu, Kernel(first_argument)); }, has_cpu),
    definition_case(
        "functional::Definition::cpu",
        [](const Definition& one) { one.cpu([](const AnyTensor& a) { return a; }); }, has_cpu),
    definition_case(
        "functional::boxed",
        [](const Definition& one) {
          one.kernel(Key::cpu, boxed([](const AnyTensor& a) { return a; }));
        },
        has_cpu),
    definition_case(
        "functional::Definition::composite",
        [](const Definition& one) { one.composite(Kernel(first_argument)); },
        [](const Operator& op) { return op.composite() != nullptr; }),
    definition_case(
        "functional::Definition::meta",
        [](const Definition& one) {
          one.meta([](const Call&) { return std::vector<TensorMeta>(); });
        },
        [](const Operator& op) { return op.meta() != nullptr; }),
    definition_case(
        "functional::Definition::tag", [](const Definition& one) { one.tag(Tag::pointwise); },
        [](const Operator& op) { return op.has(Tag::pointwise); }),
    {"functional::Definition::view", define_view},
    {"functional::add_backend", add_key},
    {"functional::set_fallback", set_one_fallback},

    tensor_call_case("functional::call",
                     [](AnyTensor& x) {
                       return call("add", {x, x}).at(0);
                     }),
    tensor_call_case("functional::call",
                     [](AnyTensor& x) {
                       return call("add_", {x, x}).at(0);
                     }),
    tensor_call_case("functional::call",
                     [](AnyTensor& x) {
                       return call(find("split"), {x, 1, 1}).at(1);
                     }),
    tensor_call_case("functional::call_for_one",
                     [](AnyTensor& x) {
                       return call_for_one("sum.axes", {x, all_axes});
                     }),
    tensor_call_case("functional::call_for_one",
                     [](AnyTensor&) {
                       return call_for_one(find("arange"), {20, DType::f32});
                     }),
    tensor_call_case("functional::from_cpu", [](AnyTensor& x) { return from_cpu(to_cpu(x)); }),
    tensor_call_case("functional::to_cpu",
                     [](AnyTensor& x) {
                       catch_refusal<DeviceError>([] { (void)to_cpu(AnyTensor()); });
                       return x;
                     }),
    tensor_call_case("functional::AnyTensor::numel",
                     [](AnyTensor& x) { return (void)x.numel(), x; }),
    tensor_call_case("functional::CpuTensor::to_rebind",
                     [](AnyTensor& x) { return x.impl().to_rebind(x); }),
    tensor_call_case("functional::TensorImpl::to_rebind",
                     [](AnyTensor& x) {
                       static const AnyTensor graph_step_case = Recording().input({2}, DType::f32);
                       catch_refusal<DispatchError>(
                           [&] { (void)graph_step_case.impl().to_rebind(x); });
                       return x;
                     }),
    tensor_call_case("functional::keys_of",
                     [](AnyTensor& x) {
                       const Argument given(x);
                       return keys_of({&given, 1}).empty() ? AnyTensor() : x;
                     }),
    tensor_call_case("functional::refuse_missing_kernel",
                     [](AnyTensor& x) {
                       catch_refusal<DispatchError>(
                           [] { refuse_missing_kernel(find("add"), Key::graph); });
                       return x;
                     }),
    value_case(
        "functional::checked_arguments",
        [] {
          return Supply(Arguments{Dims{1, 2, 3, 4, 5, 6}});
        },
        [](auto& given) { (void)checked_arguments(find("zeros").schema(), given.take()); }),
    {"functional::dispatch", dispatch_on},
    {"functional::meta_of_results", find_metas},
    refusal_case<DispatchError>("functional::Argument::tensor",
                                [] { (void)Argument(all_axes).tensor(); }),
    value_case(
        "functional::Boxed::from", [] { return Supply(std::vector{deep_tensor()}); },
        [](auto& given) { (void)Boxed<std::vector<Tensor>>::from(given.take()); }),
};

}  // namespace operator_table

std::span<const Case> operator_cases() {
  return operator_table::cases;
}

}  // namespace byre::test
