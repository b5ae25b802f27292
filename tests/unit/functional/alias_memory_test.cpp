// SPDX-License-Identifier: BSL-1.0
/// The memory that an alias of the pass occupies, and when it is freed. The implementation in the
/// design note "Functionalization" leaks updates.

#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>

#include <pthread.h>

#include <functional>
#include <string>
#include <utility>

#include "support/sanitized.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

/// Runs `act()` on a thread with a stack of 256 KiB.
void on_a_small_stack(const std::function<void()>& act) {
  pthread_attr_t shallow;
  ASSERT_EQ(::pthread_attr_init(&shallow), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&shallow, std::size_t{256} << 10), 0);
  const auto run = [](void* erased) -> void* {
    (*static_cast<const std::function<void()>*>(erased))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, &shallow, run, const_cast<std::function<void()>*>(&act)), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&shallow);
}

AnyTensor zeros_with_pass(const Dims& sizes) {
  return to_functional(zeros(sizes));
}

class AliasMemory : public testing::TestWithParam<ViewPaths> {
 private:
  const FunctionalizeOptionsScope options_{{.paths = GetParam()}};
};

TEST_P(AliasMemory, an_update_replaces_an_earlier_update_of_an_equal_region) {
  const AnyTensor x = zeros_with_pass({3});
  call("fill_", {element(x, 1), 6});
  call("fill_", {call_for_one("slice", {x, 0, 1, 3}), 7});
  call("fill_", {element(x, 1), 8});  // another view of the region that the first call wrote
  EXPECT_EQ(functional_tensor_of(x).alias()->pending_updates(), 2U)
      << "expected one update per region, regardless of the write between them";
  EXPECT_EQ(text_of_value(x), "[0. 8. 7.]");
}

TEST_P(AliasMemory, an_update_of_the_whole_base_drops_all_earlier_updates) {
  const AnyTensor x = zeros_with_pass({2, 2});
  call("fill_", {element(x, 1), 1});
  call("fill_", {element(x, 0), 2});
  call("fill_", {call_for_one("transpose", {x, 0, 1}), 3});
  EXPECT_EQ(functional_tensor_of(x).alias()->pending_updates(), 1U);
  call("fill_", {element(x, 1), 4});
  call("fill_", {x, 5});
  EXPECT_EQ(functional_tensor_of(x).alias()->pending_updates(), 0U)
      << "a write to the base itself must not add an update";
  EXPECT_EQ(text_of_value(x), "[[5. 5.]\n [5. 5.]]");
}

TEST_P(AliasMemory, the_number_of_pending_updates_never_exceeds_the_bound) {
  const AnyTensor x = zeros_with_pass({1000});
  for (std::int64_t i = 0; i < 1000; ++i) {
    call("fill_", {element(x, i), 1});
    ASSERT_LE(functional_tensor_of(x).alias()->pending_updates(),
              functional::detail::alias_bounds().updates);
  }
  EXPECT_EQ(text_of(call_for_one("sum", {from_functional(x)})), "1000.");
}

/// A budget whose limit is what is in use, with a buffer that a reclaimer drops.
class FullBudget {
 public:
  Tensor zeros(const Dims& sizes) {
    const Tensor tensor = Tensor::empty(sizes, DType::f32, allocator_);
    call("fill_", {from_cpu(tensor), 0});
    return tensor;
  }
  void fill() {
    cached_ = Buffer::allocate(1000, allocator_);
    budget_.set_limit(budget_.used());
  }
  Reclaimer add_reclaimer(const std::function<void()>& before = [] {}) {
    return budget_.add_reclaimer([this, before](const Pressure&) {
      before();
      return std::exchange(cached_, Buffer()).nbytes();
    });
  }
  bool was_asked() const { return cached_.nbytes() == 0; }

 private:
  Budget budget_{std::size_t{1} << 20};
  BudgetedAllocator allocator_{aligned_allocator(), budget_};
  Buffer cached_;
};

/// Uses of x that apply its pending update of element 1.
struct Use {
  const char* name;
  std::function<std::string(const AnyTensor& x)> text;
  const char* expected = "[0. 6. 0.]";
  std::size_t reached_bounds = 0;
};
const Use applying_uses[] = {
    {"the value", [](const AnyTensor& x) { return text_of_value(x); }},
    {"the base",
     [](const AnyTensor& x) { return text_of(functional_tensor_of(x).alias()->sync_base()); }},
    {"a view",
     [](const AnyTensor& x) {
       return text_of_value(call_for_one("slice", {x, 0, 1, 3}));
     },
     "[6. 0.]"},
    {"a write at the bound of updates",
     [](const AnyTensor& x) {
       call("fill_", {element(x, 0), 0});
       return text_of_value(x);
     },
     "[0. 6. 0.]", 1},
};

TEST_P(AliasMemory, reclaimers_make_room_for_pending_updates) {
  const std::size_t former = std::exchange(functional::detail::alias_bounds().updates, 2);
  for (const Use& use : applying_uses) {
    SCOPED_TRACE(use.name);
    FullBudget full;
    const Tensor base = full.zeros({3});  // shares the data, so that an update copies it
    const AnyTensor x = to_functional(from_cpu(base));
    call("fill_", {element(x, 1), 6});
    full.fill();
    EXPECT_THROW(use.text(x), BudgetExceeded);  // loses no update
    const Reclaimer reclaimer = full.add_reclaimer([&] {
      EXPECT_EQ(functional_tensor_of(x).alias()->pending_updates(), 1U);  // the lock is free
    });
    const std::size_t reached = functional::detail::alias_bounds().updates_reached;
    EXPECT_EQ(use.text(x), use.expected);
    EXPECT_TRUE(full.was_asked());
    EXPECT_EQ(functional::detail::alias_bounds().updates_reached, reached + use.reached_bounds);
  }
  functional::detail::alias_bounds().updates = former;
}

TEST_P(AliasMemory, reclaimers_make_room_for_written_regions) {
  FullBudget full;
  const Tensor x = full.zeros({3});
  const Reclaimer reclaimer = full.add_reclaimer();
  functionalize([&](const Tensors& in) {
    call("fill_", {element(in[0], 1), 6});
    EXPECT_EQ(text_of_value(in[0]), "[0. 6. 0.]");
    full.fill();
    return Tensors();
  })({from_cpu(x)});
  EXPECT_EQ(byre::to_string(x), "[0. 6. 0.]");
  EXPECT_TRUE(full.was_asked());
}

TEST_P(AliasMemory, repeated_writes_to_a_view_take_constant_memory) {
  const AnyTensor x = zeros_with_pass({2});
  const AnyTensor first = element(x, 0);
  const auto before = stats::snapshot().live_bytes;
  constexpr std::size_t writes = fewer_if_sanitized(200'000);
  for (std::size_t i = 0; i < writes; ++i) {
    call("add_.scalar", {first, 1});
    ASSERT_EQ(functional_tensor_of(x).alias()->pending_updates(), 1U);
  }
  EXPECT_LE(stats::snapshot().live_bytes - before, 64) << "bytes of one scalar";
  EXPECT_EQ(*to_cpu(functional_tensor_of(x).sync()).data<float>(), static_cast<float>(writes));
}

TEST_P(AliasMemory, repeated_writes_leave_at_most_four_nodes_in_a_recording) {
  const Recording recording;
  const RecordingScope scope(recording);
  const AnyTensor x = to_functional(recording.input({2}, DType::f32));
  for (int i = 0; i < 10000; ++i) {
    call("fill_", {element(x, i % 2), i});
    ASSERT_LE(recording.node_count(), 4U);
  }
}

TEST_P(AliasMemory, copy_shares_the_sources_data_until_the_target_is_destroyed) {
  const Tensor content = Tensor::zeros({1 << 16}, DType::f32);
  {
    const AnyTensor row = element(zeros_with_pass({2, 1 << 16}), 1);
    const auto before = stats::snapshot().bytes_copied;
    call("copy_", {row, from_cpu(content)});
    EXPECT_EQ(stats::snapshot().bytes_copied, before);
    EXPECT_TRUE(
        to_cpu(functional_tensor_of(row).sync()).storage().shares_data_with(content.storage()));
    EXPECT_EQ(content.storage().use_count(), 2U) << "the update holds a lazy clone";
  }
  EXPECT_EQ(content.storage().use_count(), 1U);
}

TEST_P(AliasMemory, an_unshared_base_is_written_in_place) {
  const AnyTensor x = zeros_with_pass({2, 1 << 16});
  const void* elements = nullptr;
  for (int i = 0; i < 10; ++i) {
    call("fill_", {element(x, 1), i});
    const void* const now = to_cpu(functional_tensor_of(x).sync()).raw_data();
    EXPECT_TRUE(i < 2 || now == elements);
    elements = now;
  }
}

/// The example of the design note "Functionalization": values, pending updates and the alias's
/// generation after each step.
TEST_P(AliasMemory, the_design_notes_example_has_the_documented_states) {
  // x = zeros(2): no alias yet.
  const AnyTensor x = to_functional(zeros({2}));
  EXPECT_EQ(functional_tensor_of(x).alias_if_any(), nullptr);

  // x1 = x.view(1, 2): x gets an alias with generation 0 and no updates; x1 is a view of this
  // alias.
  const AnyTensor x1 = call_for_one("view", {x, {1, 2}});
  const auto alias = functional_tensor_of(x).alias_if_any();
  ASSERT_NE(alias, nullptr);
  EXPECT_EQ(functional_tensor_of(x1).alias_if_any(), alias);
  EXPECT_EQ(alias->generation(), 0U);
  EXPECT_EQ(alias->pending_updates(), 0U);
  EXPECT_EQ(functional_tensor_of(x1).path().depth(), GetParam() == ViewPaths::chains ? 1U : 0U);
  EXPECT_EQ(text_of_value(x1), "[[0. 0.]]");

  // x[1]: a view with value 0.
  const AnyTensor element = call_for_one("select", {x, 0, 1});
  EXPECT_EQ(text_of_value(element), "0.");

  // x[1].fill_(2): its value is 2. The alias has generation 1 and one update; its base is
  // unchanged.
  call("fill_", {element, 2});
  EXPECT_EQ(alias->generation(), 1U);
  EXPECT_EQ(alias->pending_updates(), 1U);
  EXPECT_EQ(text_of_value(element), "2.");
  EXPECT_EQ(alias->pending_updates(), 1U) << "a use of a current view must not apply updates";

  // y = x1 + 3: the value of x1 is older than the write, so the update is applied to the base and
  // x1 is replayed from the base.
  const AnyTensor y = call_for_one("add.scalar", {x1, 3});
  EXPECT_EQ(alias->pending_updates(), 0U);
  EXPECT_EQ(alias->generation(), 1U);
  EXPECT_EQ(text_of_value(x1), "[[0. 2.]]");
  EXPECT_EQ(text_of_value(x), "[0. 2.]");
  EXPECT_EQ(text_of_value(y), "[[3. 5.]]");
  EXPECT_EQ(functional_tensor_of(y).alias_if_any(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Each, AliasMemory, testing::ValuesIn(all_paths), name_of_paths);

TEST(Chains, a_deep_chain_of_views_is_destroyed_on_a_small_stack) {
  const FunctionalizeOptionsScope chains({.paths = ViewPaths::chains});
  AnyTensor x = zeros_with_pass({2, 3});
  AnyTensor view = x;
  constexpr std::size_t depth = fewer_if_sanitized(50'000) + 1;
  for (std::size_t i = 0; i < depth; ++i) {
    view = call_for_one("slice", {view, 0, 0, NoValue(), 1});
    view = call_for_one("select", {call_for_one("unsqueeze", {view, 0}), 0, 0});
    if (i == 2) {
      EXPECT_EQ(functional_tensor_of(view).path().depth(), 0U)
          << "views that cancel out must leave no links";
    }
  }
  view = element(x, 1);
  for (std::size_t i = 0; i < depth; ++i) {
    view = call_for_one("view", {view, i % 2 == 0 ? Dims{1, 3} : Dims{3}});
  }
  EXPECT_EQ(functional_tensor_of(view).path().depth(), depth + 1);
  call("fill_", {view, 5});
  EXPECT_EQ(text_of_value(x), "[[0. 0. 0.]\n [5. 5. 5.]]");
  on_a_small_stack([&] {
    view = AnyTensor();
    x = AnyTensor();
  });
}

}  // namespace
}  // namespace byre::test
