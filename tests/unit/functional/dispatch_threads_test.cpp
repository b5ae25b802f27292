// SPDX-License-Identifier: BSL-1.0
/// Registration beside calls: what is registered meanwhile is not there, or is there whole; what
/// threads derive at once is derived once.
#include <byre/functional/dispatch/detail/functional_variant.hpp>

#include <algorithm>
#include <atomic>

#include "support/at_once.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

constexpr std::size_t registering_threads = 4;

/// New in each round, also if the test is run again.
std::string new_name(const char* stem) {
  static int count = 0;
  return std::string(stem) + std::to_string(++count);
}

/// In each of `rounds` rounds, thread 0 registers while the others look until they find all of it. A
/// last look comes once all is registered.
void register_beside(std::size_t rounds, FunctionRef<void(std::size_t)> prepare,
                     FunctionRef<void()> register_all, FunctionRef<bool()> find_all,
                     FunctionRef<void(std::size_t)> check) {
  std::atomic<bool> is_done = false;
  run_rounds(
      registering_threads, rounds,
      [&](std::size_t round) {
        prepare(round);
        is_done.store(false, std::memory_order_relaxed);
      },
      [&](std::size_t thread) {
        if (thread == 0) {
          register_all();
          is_done.store(true, std::memory_order_release);
          return;
        }
        for (bool is_last = false; !is_last; boost::this_thread::yield()) {
          is_last = is_done.load(std::memory_order_acquire);
          if (find_all()) {
            return;
          }
        }
        ADD_FAILURE() << "what was registered is not found";
      },
      check);
}

float first_of_value(const AnyTensor& tensor) {
  return *to_cpu(from_functional(tensor)).data<float>();
}

Definition define_adding(const std::string& name) {
  return define(name + "(Tensor(a!) self, Scalar by) -> Tensor(a!)")
      .cpu([](Tensor& self, const Scalar& by) { add_(self, by); });
}

TEST(PureForms, that_threads_derive_at_once_are_one) {
  std::string name;
  std::vector<const Operator*> forms(registering_threads);
  run_rounds(
      registering_threads, 50,
      [&](std::size_t) {
        name = new_name("test_derived_at_once") + "_";
        define_adding(name);
      },
      [&](std::size_t thread) {
        const AnyTensor x = to_functional(zeros({4}));
        call(name, {x, static_cast<double>(thread)});
        forms[thread] = &functional::detail::functional_variant_of(find(name));
        EXPECT_EQ(first_of_value(x), static_cast<float>(thread));
      },
      [&](std::size_t) {
        ASSERT_EQ(forms, std::vector<const Operator*>(registering_threads, forms[0]));
        ASSERT_EQ(forms[0]->name(), name + "_functional");
      });
}

TEST(Registration, beside_calls_is_found_whole_or_not_at_all) {
  std::string name;
  register_beside(
      50, [&](std::size_t) { name = new_name("test_beside_calls"); },
      [&] {
        define(name + "(Tensor a, Scalar by) -> Tensor")
            .cpu([](const Tensor& a, const Scalar& by) { return add(a, by); })
            .meta(meta_as_first);
      },
      [&] {
        EXPECT_EQ(first_of_value(call_for_one("add.scalar", {zeros({2}), 3})), 3);
        const Operator* const op = find_if_any(name);
        if (op == nullptr || op->meta() == nullptr) {
          return false;
        }
        EXPECT_EQ(op->name(), name);
        EXPECT_EQ(op->registered_keys(), KeySet(Key::cpu)) << "what was said before is there";
        EXPECT_EQ(first_of_value(call_for_one(*op, {zeros({2}), 5})), 5);
        return true;
      },
      [&](std::size_t) {
        const std::vector<const Operator*> all = operators();
        ASSERT_NE(std::find(all.begin(), all.end(), &find(name)), all.end());
      });
}

TEST(Registration, of_operators_by_threads_at_once_registers_each) {
  std::string name;
  std::atomic<std::size_t> refused = 0;
  run_rounds(
      registering_threads, 50,
      [&](std::size_t) {
        name = new_name("test_at_once");
        refused = 0;
      },
      [&](std::size_t thread) {
        define_adding(name + "_of_" + std::to_string(thread) + "_");
        try {
          define_adding(name + "_");
        } catch (const DispatchError&) {
          ++refused;
        }
      },
      [&](std::size_t) {
        ASSERT_EQ(refused, registering_threads - 1);
        for (std::size_t thread = 0; thread < registering_threads; ++thread) {
          find(name + "_of_" + std::to_string(thread) + "_");
        }
      });
}

TEST(Registration, of_a_pure_operator_beside_writes_leaves_none_without_a_form) {
  std::string name;
  register_beside(
      50,
      [&](std::size_t) {
        name = new_name("test_variant_beside_writes");
        define_adding(name + "_");
      },
      [&] {
        define(name + "(Tensor a, Scalar by) -> Tensor").cpu([](const Tensor& a, const Scalar& by) {
          return add(a, by);
        });
      },
      [&] {
        const Operator& writes = find(name + "_");
        const AnyTensor x = to_functional(zeros({2}));
        call(writes, {x, 7});
        EXPECT_EQ(first_of_value(x), 7);
        return writes.functional_variant() != nullptr;
      },
      [&](std::size_t) {
        ASSERT_EQ(&functional::detail::functional_variant_of(find(name + "_")), &find(name));
      });
}

TEST(Registration, of_backends_beside_calls_is_found_whole) {
  const Operator& op = define(new_name("test_on_backends") + "(Tensor a) -> Tensor").op();
  Key next = add_backend({.name = new_name("test_backend_")});
  std::string name;
  register_beside(
      4,  // there are few keys to give out
      [&](std::size_t) {
        name = new_name("test_backend_");
        next = static_cast<Key>(static_cast<int>(next) + 1);
      },
      [&] {
        add_backend({.name = name});
        extend(op.name()).kernel(
            next, [](const Call& call) { return Tensors{call.arguments[0].tensor()}; });
        set_fallback(next, [](const Call&) { return Tensors{zeros({1})}; });
      },
      [&] {
        if (fallback(next) == nullptr) {
          return false;
        }
        EXPECT_EQ(traits_of(next).name, name) << "what was registered before is there";
        const IncludeKeys on_it(next);
        const AnyTensor x = zeros({3});
        EXPECT_EQ(call_for_one(op, {x}), x);
        EXPECT_EQ(call_for_one("neg", {x}).numel(), 1);
        return true;
      },
      [](std::size_t) {});
}

}  // namespace
}  // namespace byre::test
