// SPDX-License-Identifier: BSL-1.0
// Makes each allocation of each API function fail, one after another: the function must throw an
// OutOfMemory whose message states the requested size, and change nothing.
#include <byre/error/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>
#include <ostream>
#include <regex>
#include <typeinfo>

#include "cases.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

/// Replaces each address by a number, because a second attempt has other addresses.
std::string with_addresses_numbered(const std::string& text) {
  static const std::regex address("0x[0-9a-f]+");
  std::map<std::string, std::size_t> numbers;
  std::string numbered;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), address), end; found != end; ++found) {
    const auto [known, is_new] = numbers.try_emplace(found->str(), numbers.size());
    numbered += found->prefix().str() + "#" + std::to_string(known->second);
    rest = (*found)[0].second;
  }
  return numbered.append(rest, text.end());
}

}  // namespace

int Attempt::next_number() {
  static int last = 0;
  return ++last;
}

void Attempt::operator()(const std::function<void()>& step,
                         const std::function<std::string()>& state) {
  const std::string before = state();
  const std::ptrdiff_t alive_before = live_new_count;
  std::exception_ptr failure;
  {
    const FailingNew failing(nth_, failures_);
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  is_without_failure_ = !new_failed;
  if (failure != nullptr) {
    try {
      std::rethrow_exception(failure);
    } catch (const OutOfMemory& error) {
      EXPECT_TRUE(says(error.what(), "out of memory", "Release"));
    } catch (const std::exception& error) {
      ADD_FAILURE() << "allocation " << nth_ << " failed: " << typeid(error).name()
                    << " was thrown, " << error.what();
    }
    failure = nullptr;
    EXPECT_TRUE(retains_memory_ || live_new_count <= alive_before)
        << "memory leaked when allocation " << nth_ << " failed";
    EXPECT_TRUE(new_failed) << "OutOfMemory was thrown although no allocation failed";
    EXPECT_EQ(state(), before) << "allocation " << nth_ << " failed";
    step();
  }
  const std::string after = with_addresses_numbered(state());
  EXPECT_EQ(state_when_done_.value_or(after), after) << "allocation " << nth_ << " failed";
  state_when_done_ = after;
}

Tensor deep_tensor() {
  Tensor tensor = Tensor::empty(deep_sizes, DType::f32);
  auto* const first = tensor.mutable_data<float>();
  std::iota(first, first + tensor.numel(), 0.0F);
  return tensor;
}

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

namespace {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases : {
#if defined(HAS_C_CASES)
         c_cases(),
#endif
#if defined(HAS_PROCESS_CASES)
             process_cases(),
#endif
             storage_cases(), report_cases(), tensor_cases(), exchange_cases(), operator_cases(),
             program_cases(), graph_cases()
       }) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  std::string name = tested.param.name + std::string("_") + std::to_string(tested.index);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char each) { return std::isalnum(each) == 0; }, '_');
  return name;
}

class EveryAllocation : public testing::TestWithParam<Case> {
 protected:
  void run_with_each(Failures failures) {
    {
      Attempt first(never_fails, failures, GetParam().retains_memory,
                    state_when_done_);  // allocates what a process allocates only once
      GetParam().run(first);
      ASSERT_TRUE(first.is_without_failure());
    }
    for (int nth = 0;; ++nth) {
      ASSERT_LT(nth, 20000);
      Attempt attempt(nth, failures, GetParam().retains_memory, state_when_done_);
      GetParam().run(attempt);
      if (attempt.is_without_failure() || HasFailure()) {
        break;
      }
    }
  }

 private:
  std::optional<std::string> state_when_done_;
};

TEST_P(EveryAllocation, failing_once_throws_out_of_memory_and_changes_nothing) {
  run_with_each(Failures::one);
}

TEST_P(EveryAllocation, failing_together_with_all_later_allocations_changes_nothing) {
  if (GetParam().allocates_to_undo) {
    GTEST_SKIP() << "undoing a failed step allocates";
  }
  run_with_each(Failures::all_that_follow);
}

INSTANTIATE_TEST_SUITE_P(OfTheApi, EveryAllocation, testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace byre::test
