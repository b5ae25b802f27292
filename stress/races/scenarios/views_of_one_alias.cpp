// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "../run_scenario.hpp"
#include "../spin_barrier.hpp"

namespace byre::stress::races {
namespace {

/// A tensor under the functionalize pass, which replaces writes to views by updates that are
/// applied when a view is next used. First all threads create views of the tensor at once. Then, by
/// random choices, they use, create and drop views of the tensor, of views that other threads use,
/// and of a part that no thread writes. Each thread writes its own part exclusively, as tensors
/// require; everything else is concurrent, including uses that apply updates. Every use of a view
/// reads the last write.
class ViewsOfOneAlias final : public Scenario {
 public:
  explicit ViewsOfOneAlias(Fixture& fixture)
      : fixture_(fixture),
        viewed_(fixture.threads),
        parts_(fixture.threads),
        values_(fixture.threads) {
    fixture_.counts_copies = false;  // the number of copies by the pass is unspecified
  }

  void prepare() override {
    const auto rows = static_cast<std::int64_t>(fixture_.threads) + 1;
    Tensor memory = Tensor::empty({rows, high, wide}, DType::i64, fixture_.memory);
    fill_(memory, 0);
    base_ = functional::to_functional(functional::from_cpu(memory));
    std::fill(values_.begin(), values_.end(), 0);
    writes_ = 0;
  }

  void act(unsigned thread) override {
    Tensors& mine = parts_[thread].views;
    try {
      fixture_.record("makes the first views");
      // Records views as chains or by strides; the seed and the round choose. The first view
      // creates the alias.
      const functional::FunctionalizeOptionsScope scope(
          {.paths = (fixture_.seed + fixture_.round) % 4 == 0 ? functional::ViewPaths::strides
                                                              : functional::ViewPaths::chains});
      mine.push_back(functional::call_for_one("select", {base_, 0, std::int64_t(thread)}));
      while (mine.size() < depth) {
        mine.push_back(functional::call_for_one("transpose", {mine.back(), 0, 1}));
      }
    } catch (...) {
      viewed_.arrive_and_wait();
      throw;
    }
    viewed_.arrive_and_wait();
    fixture_.take_turns(thread, turns, [&](std::uint64_t random) { take_turn(thread, random); });
  }

  void check() override {
    std::uint64_t tensors = 1;
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      for (const AnyTensor& view : parts_[thread].views) {
        expect_seen(view, values_[thread], "at the end, a view reads the last write");
      }
      tensors += parts_[thread].views.size();
    }
    const auto alias = base_.as<functional::FunctionalTensor>()->alias();
    fixture_.expect_equal(alias->generation(), writes_, "generations");
    fixture_.expect_equal(alias->tensor_count(), tensors, "views of the alias");
    for (Part& part : parts_) {
      part.views.clear();
    }
    fixture_.expect_equal(alias->tensor_count(), 1, "remaining tensors");
    base_ = {};
  }

 private:
  using AnyTensor = functional::AnyTensor;
  using Tensors = functional::Tensors;

  static constexpr std::int64_t high = 2;
  static constexpr std::int64_t wide = 3;
  static constexpr std::size_t depth = 4;  ///< number of initial views of a thread
  static constexpr int turns = 8;

  struct alignas(64) Part {
    Tensors views;  ///< other threads may only use these views
  };

  void take_turn(unsigned thread, std::uint64_t random) {
    const std::uint64_t choice = random % 8;
    const auto which = static_cast<std::size_t>(random / 8);
    if (choice < 2) {
      const std::unique_lock lock(mutex_);
      fixture_.record("writes");
      ++writes_;
      values_[thread] = static_cast<std::int64_t>(fixture_.stamp(thread) * turns + which % turns);
      Tensors& mine = parts_[thread].views;
      functional::call("fill_", {mine[which / turns % mine.size()], values_[thread]});
      return;
    }
    const std::shared_lock lock(mutex_);
    const auto other = static_cast<unsigned>(which % fixture_.threads);
    const Tensors& seen = parts_[other].views;
    const AnyTensor& view = seen[which / fixture_.threads % seen.size()];
    switch (choice) {
      case 2:
        fixture_.record("uses the unwritten part");
        expect_seen(functional::call_for_one("select", {base_, 0, std::int64_t(fixture_.threads)}),
                    0, "the unwritten part is unchanged");
        break;
      case 3:
        fixture_.record("uses the base");
        expect_base();
        break;
      case 4:
        fixture_.record("uses its own part");
        expect_seen(parts_[thread].views.back(), values_[thread], "a thread reads its own write");
        break;
      case 5: {
        fixture_.record("makes a view of a view");
        AnyTensor short_lived = functional::call_for_one("transpose", {view, 0, 1});
        expect_seen(short_lived, values_[other], "a new view reads the last write");
        fixture_.drop(thread, short_lived);
        break;
      }
      case 6: {
        // The alias of the view uses the same link of the chain as aliases that other threads
        // create; the first of these threads creates the link.
        AnyTensor same = functional::call_for_one("alias", {view});
        expect_seen(same, values_[other], "an alias reads the last write");
        fixture_.drop(thread, same);
        break;
      }
      default:
        fixture_.record("uses a view");
        expect_seen(view, values_[other], "a use reads the last write");
        break;
    }
  }

  void expect_seen(const AnyTensor& view, std::int64_t value, const char* what) {
    const AnyTensor now = functional::from_functional(view);
    const Tensor elements = functional::to_cpu(now).contiguous();
    const auto* const all = elements.data<std::int64_t>();
    fixture_.expect(
        elements.numel() == high * wide && std::count(all, all + high * wide, value) == high * wide,
        what);
  }

  void expect_base() {
    const AnyTensor now = functional::from_functional(base_);
    const Tensor elements = functional::to_cpu(now).contiguous();
    const auto* row = elements.data<std::int64_t>();
    for (const std::int64_t value : values_) {
      fixture_.expect(std::count(row, row + high * wide, value) == high * wide,
                      "the base has the last write to each part");
      row += high * wide;
    }
  }

  Fixture& fixture_;
  SpinBarrier viewed_;
  std::vector<Part> parts_;
  AnyTensor base_;
  std::shared_mutex mutex_;
  // Written with exclusive access.
  std::vector<std::int64_t> values_;  // of each thread's part
  std::uint64_t writes_ = 0;
};

}  // namespace

RaceResult run_views_of_one_alias(const RaceSettings& settings) {
  return run_scenario<ViewsOfOneAlias>(settings);
}

}  // namespace byre::stress::races
