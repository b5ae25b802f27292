// SPDX-License-Identifier: BSL-1.0
/// Registration concurrent with calls: a call finds either a complete operator or no operator, and
/// threads that concurrently generate a functional variant get the same variant. The use of a view
/// is a read: threads may use views of one alias concurrently, even if this applies updates,
/// creates the alias, or replays values.
#include <byre/functional/dispatch/detail/functional_variant.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "support/at_once.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

constexpr std::size_t threads = 4;

/// Returns a name that is unique in each round, also if the test is repeated.
std::string new_name(const char* stem) {
  static int count = 0;
  return std::string(stem) + std::to_string(++count);
}

/// In each round, thread 0 calls `register_all` while the other threads call `find_all` until it
/// returns true. A call after the registration must return true.
void register_beside(std::size_t rounds, FunctionRef<void(std::size_t)> prepare,
                     FunctionRef<void()> register_all, FunctionRef<bool()> find_all,
                     FunctionRef<void(std::size_t)> check) {
  std::atomic<bool> is_done = false;
  run_rounds(
      threads, rounds,
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
        for (bool is_last = false; !is_last; std::this_thread::yield()) {
          is_last = is_done.load(std::memory_order_acquire);
          if (find_all()) {
            return;
          }
        }
        ADD_FAILURE() << "a look after the registration did not find everything";
      },
      check);
}

float first_of(const AnyTensor& tensor) {
  return *to_cpu(from_functional(call_for_one("contiguous", {tensor}))).data<float>();
}

Definition define_adding(const std::string& name) {
  return define(name + "(Tensor(a!) self, Scalar by) -> Tensor(a!)")
      .cpu([](Tensor& self, const Scalar& by) { add_(self, by); });
}

TEST(FunctionalVariants, concurrent_threads_generate_a_single_variant) {
  std::string name;
  std::vector<const Operator*> forms(threads);
  run_rounds(
      threads, 50,
      [&](std::size_t) {
        name = new_name("test_derived_at_once") + "_";
        define_adding(name);
      },
      [&](std::size_t thread) {
        const AnyTensor x = to_functional(zeros({4}));
        call(name, {x, static_cast<double>(thread)});
        forms[thread] = &functional::detail::functional_variant_of(find(name));
        EXPECT_EQ(first_of(x), static_cast<float>(thread));
      },
      [&](std::size_t) {
        ASSERT_EQ(forms, std::vector<const Operator*>(threads, forms[0]));
        ASSERT_EQ(forms[0]->name(), name + "_functional");
      });
}

TEST(Registration, an_operator_is_found_complete_or_not_at_all) {
  std::string name;
  register_beside(
      50, [&](std::size_t) { name = new_name("test_beside_calls"); },
      [&] {
        define(name + "(Tensor a, Scalar by) -> Tensor")
            .cpu([](const Tensor& a, const Scalar& by) { return add(a, by); })
            .meta(meta_as_first);
      },
      [&] {
        EXPECT_EQ(first_of(call_for_one("add.scalar", {zeros({2}), 3})), 3);
        const Operator* const op = find_if_any(name);
        if (op == nullptr || op->meta() == nullptr) {
          return false;
        }
        EXPECT_EQ(op->name(), name);
        EXPECT_EQ(op->registered_keys(), KeySet(Key::cpu))
            << "everything registered earlier must be visible";
        EXPECT_EQ(first_of(call_for_one(*op, {zeros({2}), 5})), 5);
        return true;
      },
      [&](std::size_t) {
        const std::vector<const Operator*> all = operators();
        ASSERT_NE(std::find(all.begin(), all.end(), &find(name)), all.end());
      });
}

TEST(Registration, concurrent_threads_register_every_operator) {
  std::string name;
  std::atomic<std::size_t> refused = 0;
  run_rounds(
      threads, 50,
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
        ASSERT_EQ(refused, threads - 1);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          find(name + "_of_" + std::to_string(thread) + "_");
        }
      });
}

TEST(Registration, writes_are_correct_while_their_variant_is_registered) {
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
        EXPECT_EQ(first_of(x), 7);
        return writes.functional_variant() != nullptr;
      },
      [&](std::size_t) {
        ASSERT_EQ(&functional::detail::functional_variant_of(find(name + "_")), &find(name));
      });
}

TEST(Registration, a_backend_is_found_complete_or_not_at_all) {
  const Operator& op = define(new_name("test_on_backends") + "(Tensor a) -> Tensor").op();
  Key next = add_backend({.name = new_name("test_backend_")});
  std::string name;
  register_beside(
      4,  // rounds: each uses up a key, and there are few keys
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
        EXPECT_EQ(traits_of(next).name, name) << "the traits of a registered key must be visible";
        const IncludeKeys on_it(next);
        const AnyTensor x = zeros({3});
        EXPECT_EQ(call_for_one(op, {x}), x);
        EXPECT_EQ(call_for_one("neg", {x}).numel(), 1);
        return true;
      },
      [](std::size_t) {});
}

// ---- Concurrent uses of views

class ConcurrentUses : public testing::TestWithParam<ViewPaths> {
 protected:
  FunctionalizeOptions options() const { return {.paths = GetParam()}; }
};

TEST_P(ConcurrentUses, concurrent_reads_of_chained_views_return_the_last_write) {
  const FunctionalizeOptionsScope scope(options());
  const AnyTensor x = to_functional(from_cpu(Tensor::zeros({2, 4, 4}, DType::f32)));
  std::vector<AnyTensor> views{call_for_one("select", {x, 0, 1})};
  while (views.size() < 12) {
    views.push_back(call_for_one("transpose", {views.back(), 0, 1}));
  }
  std::vector<std::vector<float>> seen(threads, std::vector<float>(views.size()));
  std::size_t round_of_views = 0;
  run_rounds(
      threads, 300,
      [&](std::size_t round) {
        round_of_views = round;
        call("fill_", {views[round % views.size()], static_cast<double>(round)});
      },
      [&](std::size_t thread) {
        for (std::size_t step = 0; step < views.size(); ++step) {
          const std::size_t at = thread % 2 == 0 ? step : views.size() - 1 - step;
          // In half of the cases, uses and destroys a new view while other threads walk past the
          // link at which it ends.
          const bool has_its_own = (round_of_views + thread) % 4 < 2;
          seen[thread][at] = first_of(has_its_own ? call_for_one("alias", {views[at]}) : views[at]);
        }
      },
      [&](std::size_t round) {
        for (const std::vector<float>& each : seen) {
          ASSERT_EQ(each, std::vector<float>(views.size(), static_cast<float>(round)));
        }
      });
}

TEST_P(ConcurrentUses, threads_that_create_the_first_views_create_one_alias) {
  AnyTensor x;
  std::vector<AnyTensor> views(threads);
  run_rounds(
      threads, 300,
      [&](std::size_t) { x = to_functional(from_cpu(Tensor::zeros({threads}, DType::f32))); },
      [&](std::size_t thread) {
        const FunctionalizeOptionsScope scope(options());
        views[thread] = call_for_one("select", {x, 0, thread});
      },
      [&](std::size_t) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
          call("fill_", {views[thread], static_cast<double>(thread)});
        }
        ASSERT_EQ(first_of(call_for_one("sum", {x})), 6);
        ASSERT_EQ(x.as<FunctionalTensor>()->alias()->tensor_count(), threads + 1);
      });
}

INSTANTIATE_TEST_SUITE_P(Each, ConcurrentUses, testing::ValuesIn(all_paths), name_of_paths);

}  // namespace
}  // namespace byre::test
